import KeelNetworkStatus

for await path in NetworkStatus().paths {
    print(path)
    break
}
