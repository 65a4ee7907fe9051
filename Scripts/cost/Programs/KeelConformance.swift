import KeelConformance
import KeelStorage

for check in StorageAdapterCheck.applicable(to: InMemoryStorageAdapter().capabilities) {
    try await check.run(on: InMemoryStorageAdapter())
}
