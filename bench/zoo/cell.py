"""One figure of the zoo in a process of its own: cell.py FOLDER STORE WHAT NETWORK [ARGUMENT …]; writes a JSON object.

FOLDER has what export.py writes, STORE keeps what is compiled.

  compile FORM TARGET                   seconds to compile FORM for all sizes, with nothing kept from before
  agreement FORM TARGET                 the largest error at six sizes beside ONNX Runtime, of the output's largest magnitude
  inference TARGET THREADS              milliseconds of a run at the first sizes, in turns with the peers, and the limit
  memory ENGINE                         MiB that the process had at most, after three such runs
  step-compile TARGET PRECISION [WORD]  seconds to compile a step with AdamW, with nothing kept from before; WORD: its
                                        options, of steps.SPARING
  torch-compile PRECISION THREADS       those of torch.compile to its first step
  training TARGET PRECISION THREADS     milliseconds of a step at the second sizes, in turns with PyTorch, and the limit
  losses                                of 30 steps beside PyTorch's: the largest relative difference
  training-memory ENGINE                MiB that the process had at most, after three steps; "recomputing" is ours with
                                        --recompute blocks, "early" with --update early, "least" with both
"""

import json
import sys

import figures
import runs
import steps


def main():
    folder, store, what, name, *rest = sys.argv[1:]
    arguments = (int(word) if word.isdigit() else word for word in rest)
    print(json.dumps((runs.CELLS | steps.CELLS)[what](figures.Place(folder, store, name), *arguments)))


if __name__ == "__main__":
    main()
