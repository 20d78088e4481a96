// A library with the name of the compiler's, of one build or another.
extern "C" int freestone_stub_build() { return FREESTONE_STUB_BUILD; }
