import KeelStorage
import Testing

/// `DocumentValue` can be written as `nil`, so a field that holds null is easily confused with a missing field.
@Suite("Missing fields")
struct AbsentFieldTests {
    let fields: DocumentFields = ["null": .null, "text": "five", "map": .map(["a": 1])]

    @Test("A missing field is nil, not null")
    func reading() {
        #expect(fields["missing"] == Optional<DocumentValue>.none)
        #expect(fields["missing" as FieldPath] == Optional<DocumentValue>.none)
        #expect(fields["map.b" as FieldPath] == Optional<DocumentValue>.none)
        #expect(fields["text.b" as FieldPath] == Optional<DocumentValue>.none)
        #expect(fields["null"] == .some(.null))
    }

    @Test(
        "An increment of a field without a number starts from its operand",
        arguments: ["missing", "null", "text", "map"] as [FieldPath]
    )
    func increment(_ field: FieldPath) async throws {
        let storage = StorageClient(InMemoryStorageAdapter())
        try await storage.setDocument("notes/1", fields)
        let change = FieldChange(field, .transform(.increment(7)))
        let receipt = try await storage.updateDocument("notes/1", [change])
        #expect(receipt.outcomes.first?.transformResults == [7])
        #expect(try await storage.getDocument("notes/1")[field] == 7)
    }
}
