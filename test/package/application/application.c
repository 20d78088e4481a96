// A C program against the installed package: the headers are C, the libraries are found at run time, and an error is a
// sentence.
#include <freestone/compiler.h>

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  if (argc != 2 || strcmp(freestone_version(), argv[1]) != 0) {
    fprintf(stderr, "the installed library is version %s\n", freestone_version());
    return 1;
  }
  freestone_artifact *artifact = NULL;
  if (freestone_artifact_load("there-is-no-such-file.stone", NULL, &artifact) != FREESTONE_IO)
    return 1;
  if (strlen(freestone_last_error()) == 0)
    return 1;
  freestone_model model = {sizeof(model), "there-is-no-such-file.onnx", NULL, 0, NULL};
  return freestone_compile(&model, NULL, &artifact, NULL) == FREESTONE_OK || artifact != NULL;
}
