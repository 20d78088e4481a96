// C's fmin and fmax: if one operand is NaN, the result is the other.

template <typename T> static T least(T x, T y) { return x != x ? y : y < x ? y : x; }
template <typename T> static T greatest(T x, T y) { return x != x ? y : x < y ? y : x; }

extern "C" float fminf(float x, float y) { return least(x, y); }
extern "C" double fmin(double x, double y) { return least(x, y); }
extern "C" float fmaxf(float x, float y) { return greatest(x, y); }
extern "C" double fmax(double x, double y) { return greatest(x, y); }
