// Functions of one instruction on x86-64-v3.

extern "C" float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
extern "C" double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
extern "C" float roundevenf(float x) { return __builtin_roundevenf(x); }
extern "C" double roundeven(double x) { return __builtin_roundeven(x); }
