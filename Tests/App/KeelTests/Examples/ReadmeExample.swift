import Keel

/// The ten lines of the README; never called, as they listen until their task ends.
func readmeExample() async throws {
    struct Note: Codable, Identifiable {
        var id: String
        var text: String
    }

    let storage = StorageClient(try SQLiteStorageAdapter(at: .applicationSupport("Notes")))
    let notes = storage.collection("notes", as: Note.self)
    try await notes.save(Note(id: "1", text: "Hello"))
    for try await snapshot in notes.listen({ $0.order(by: "text") }) {
        print(snapshot.items.map(\.text))
    }
}
