import KeelStorage
import KeelStorageFirestore

extension FirestoreExchange {
    /// Returns the capabilities of the store, after preparing it for a declared schema.
    func schema(isDeclared: Bool) async throws(StorageError) -> [UInt8] {
        try items.check()
        if isDeclared {
            guard decoding.isExtended else {
                throw FirestoreDecoding.flaw(
                    "a schema is declared with the header Keel-Protocol: 1"
                )
            }
            let schema = try decoding.schema(body)
            try schema.check()
            try await adapter.prepare(schema)
        }
        let names = adapter.capabilities.description.split(separator: ", ")
        return FirestoreJSON.object([
            .init("capabilities", .array(names.map { .string(String($0)) }))
        ]).bytes
    }
}
