import KeelRepositories
import KeelStorage

struct Note: Codable, Identifiable {
    var id: String
}

let storage = StorageClient(InMemoryStorageAdapter())
let notes = CollectionDataSource(storage.collection("notes", as: Note.self))
print(try await notes.findAll().count)
