"""`options={"weights": "kept"}`: packed copies of weights are made anew where a weight has changed, and only there."""

import threading

from networks import Transformer, assert_close, convolutional, perceptron, torch

from freestone.torch import compiled as programs

made = []


class Recorded(programs.Program):
    def __init__(self, artifact):
        super().__init__(artifact)
        made.append(self)


programs.Program = Recorded


def packs():
    return sum(program.counters()["packs"] for program in made)


def keep(model, **options):
    torch._dynamo.reset()
    return torch.compile(model, backend="freestone", dynamic=True, options={"weights": "kept"}, **options)


def same_numbers():
    """What is kept is what each run would make; the weights that it needs are inputs, and nothing else is."""
    for make, x in ((perceptron, torch.randn(64, 20)), (Transformer, torch.randint(50, (6, 11))),
                    (convolutional, torch.randn(3, 3, 18, 22))):
        torch.manual_seed(0)
        model = make().eval()
        compiled = keep(model, fullgraph=True)
        with torch.no_grad():
            before = packs()
            for _ in range(3):
                assert_close(compiled(x), model(x), make.__name__)
            assert packs() == before + 1, f"{make.__name__}: packed {packs() - before} times"


def changes_are_seen():
    """Whatever PyTorch counts as a change of a parameter, and other memory."""
    torch.manual_seed(0)
    model = nn_of_width(48)
    compiled = keep(model)
    x = torch.randn(64, 20)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step():
        model(x).square().mean().backward()
        optimizer.step()

    def swap():
        torch.utils.swap_tensors(model[0].weight, torch.nn.Parameter(torch.randn(48, 20)))

    def replace():
        # The memory of the old weight is free for the new one, whose version is the same.
        model[0].weight = torch.nn.Parameter(torch.randn(48, 20))

    changes = {
        "a step of an optimizer": step,
        "an update in place": lambda: model[0].weight.mul_(2),
        "an update of a view": lambda: model[2].weight.detach()[3].zero_(),
        "a loaded state": lambda: model.load_state_dict(nn_of_width(48).state_dict()),
        "an assigned state": lambda: model.load_state_dict(nn_of_width(48).state_dict(), assign=True),
        "other data": lambda: setattr(model[0].weight, "data", torch.randn(48, 20)),
        "a swap": swap,
        "another parameter": replace,
        "a bias, which is read as it is": lambda: model[0].bias.data.add_(1),
    }
    for what, change in changes.items():
        for _ in range(2):
            if what == "a step of an optimizer":
                change()
            else:
                with torch.no_grad():
                    change()
            with torch.no_grad():
                assert_close(compiled(x), model(x), what)


def uncounted_writes():
    """Through `.data` or NumPy, they are seen with the next change that PyTorch counts, as docs/torch.md says; without the
    option, at once."""
    model = nn_of_width(48)
    x = torch.randn(64, 20)
    kept = keep(model)
    with torch.no_grad():
        for write in (lambda: model[0].weight.data.mul_(2), lambda: model[0].weight.detach().numpy().__imul__(2)):
            before = kept(x)
            assert_close(before, model(x), "before")
            write()
            assert torch.equal(kept(x), before), "a write that is not counted"
            model[2].weight.mul_(1)
            assert_close(kept(x), model(x), "another weight's version")
        torch._dynamo.reset()
        read = torch.compile(model, backend="freestone", dynamic=True)
        for write in (lambda: model[0].weight.data.mul_(2), lambda: model[0].weight.detach().numpy().__imul__(2)):
            read(x)
            write()
            assert_close(read(x), model(x), "without the option")


def nn_of_width(width):
    return torch.nn.Sequential(torch.nn.Linear(20, width), torch.nn.GELU(), torch.nn.Linear(width, 32))


def updated_buffers():
    """Buffers that the function itself updates are no weights."""
    model = torch.nn.Sequential(torch.nn.Linear(20, 48), torch.nn.BatchNorm1d(48))
    compiled = keep(model)
    x = torch.randn(64, 20)
    with torch.no_grad():
        before = packs()
        for _ in range(3):
            compiled(x)
        assert packs() == before + 1, packs() - before
        reference = torch.nn.BatchNorm1d(48)
        for _ in range(3):
            reference(model[0](x))
        assert_close(model[1].running_mean, reference.running_mean, "the running mean")


def unversioned_tensors():
    """Tensors of inference mode have no versions: each run packs them."""
    with torch.inference_mode():
        model = nn_of_width(48)
        compiled = keep(model)
        x = torch.randn(64, 20)
        for _ in range(3):
            assert_close(compiled(x), model(x), "inference mode")
            model[0].weight.mul_(1.5)


def one_function_for_several_modules():
    """Modules that share a compiled function have packed copies of their own."""
    torch._dynamo.reset()
    layers = [nn_of_width(48) for _ in range(3)]
    for layer in layers:
        layer.compile(backend="freestone", dynamic=True, options={"weights": "kept"})
    x = torch.randn(64, 20)
    with torch.no_grad():
        expected = [torch.nn.Sequential.forward(layer, x) for layer in layers]
        before = packs()
        for _ in range(3):
            for layer, wanted in zip(layers, expected):
                assert_close(layer(x), wanted, "a layer")
        assert packs() <= before + len(layers), packs() - before


def threads():
    """Each call under way has packed copies of its own."""
    model = nn_of_width(48)
    compiled, faults = keep(model), []
    inputs = [torch.randn(64, 20) for _ in range(4)]
    with torch.no_grad():
        compiled(inputs[0])

    def call(x):
        with torch.no_grad():
            expected = model(x)
            for _ in range(50):
                if (compiled(x) - expected).abs().max() > 1e-4:
                    faults.append("another result")

    for _ in range(2):
        workers = [threading.Thread(target=call, args=(x,)) for x in inputs]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        with torch.no_grad():
            model[0].weight.mul_(1.1)
    assert not faults, faults


def training_reads_weights():
    """What is differentiated keeps nothing."""
    model = nn_of_width(48)
    compiled = keep(model)
    x = torch.randn(64, 20)
    before = packs()
    for _ in range(2):
        compiled(x).square().mean().backward()
    assert packs() == before


def other_options():
    for options, sentence in (({"weights": "old"}, "'read' or 'kept'"), ({"wait": 1}, "no 'wait'")):
        try:
            torch._dynamo.reset()
            torch.compile(perceptron(), backend="freestone", options=options)(torch.randn(2, 20))
            raise AssertionError(options)
        except Exception as error:
            assert sentence in str(error), error


same_numbers()
changes_are_seen()
uncounted_writes()
updated_buffers()
unversioned_tensors()
one_function_for_several_modules()
threads()
training_reads_weights()
other_options()
