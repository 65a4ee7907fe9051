import KeelStorage
import KeelSync

let outbox = Outbox(StorageClient(InMemoryStorageAdapter()))
print(outbox)
