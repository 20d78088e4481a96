// A C program against the installed package: the header is C, the library is found at run time, and an error is a
// sentence.
#include <freestone/runtime.h>

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
  return strlen(freestone_last_error()) == 0;
}
