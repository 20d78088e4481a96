/// The settings of jemalloc. What has 256 KiB or more goes back to the system once it is freed, so that the peak of a
/// training is the one that `--plan` tells.
extern "C" {
extern const char *malloc_conf;
const char *malloc_conf = "oversize_threshold:262144";
}
