import os,sys,time
import numpy as np
sys.path.insert(0,'/work/main/bench')
import freestone_runtime as fr
os.sched_setaffinity(0,[1])
dx=int(sys.argv[2]); M,K,N,R=map(int,sys.argv[3:7]); b=8
mm=fr.Model(sys.argv[1],threads=1); rng=np.random.default_rng(0)
w=rng.standard_normal((M,K)).astype('f')
x=rng.standard_normal((K,b,N) if 'old' in sys.argv[1] else (K,b*N)).astype('f')
mm.run({'w':np.ascontiguousarray(w.T) if dx else w,'x':x})
ts=[]
for _ in range(R):
    t=time.process_time(); mm.run_bound(); ts.append(time.process_time()-t)
print(sys.argv[1],'%.1f GF/s best %.1f'%(2*b*N*M*K/1e9/np.median(ts),2*b*N*M*K/1e9/min(ts)))
