// A library with the compiler library's name, in several builds.
extern "C" int freestone_stub_build() { return FREESTONE_STUB_BUILD; }
