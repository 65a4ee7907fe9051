import KeelStorage
import KeelTestSupport
import Testing

@Suite("Refused arguments")
struct RefusedArgumentTests {
    private let storage = StorageClient(InMemoryStorageAdapter())

    /// Expects that a call refuses its argument, and returns the operation that the error names.
    private func operation(_ call: () async throws -> Void) async -> String? {
        await expectError(StorageError.self, .invalidArgument, call)?.operation
    }

    @Test("An error about a path or an aggregation names the operation")
    func named() async {
        let storage = storage
        let (path, query): (DocumentPath, DocumentQuery) = ("a", DocumentQuery("a"))
        #expect(await operation { _ = try await storage.getDocument(path) } == "getDocument")
        #expect(await operation { _ = try await storage.findDocuments([path]) } == "findDocuments")
        #expect(await operation { _ = try await storage.collections(under: path) } == "collections")
        #expect(await operation { _ = try await storage.aggregate(query, []) } == "aggregate")
    }

    @Test("A declared search without fields is refused")
    func searchWithoutFields() async {
        let schema = StorageSchema(searches: [SearchDefinition("a", fields: [])])
        let storage = StorageClient(InMemoryStorageAdapter(), schema: schema)
        await expectError(StorageError.self, .invalidArgument) { try await storage.prepare() }
    }

    @Test("A transform of a field within more than 20 maps is refused")
    func deepTransforms() async throws {
        let storage = storage
        let path: DocumentPath = "a/1"
        let deepest = FieldPath(names: Array(repeating: "n", count: 21))
        let tooDeep = FieldPath(names: deepest.names + ["n"])
        try await storage.setDocument(path, [:])
        try await storage.updateDocument(path, [.increment(deepest)])
        try await storage.setDocument(path, storage.getDocument(path).fields())
        let transforms: [FieldChange] = [
            .increment(tooDeep), .maximum(tooDeep, 1), .serverTimestamp(tooDeep),
        ]
        for transform in transforms {
            await expectError(StorageError.self, .invalidArgument) {
                try await storage.updateDocument(path, [transform])
            }
        }
    }

    @Test("Fields nest as deep as the values of a typed collection")
    func depth() async throws {
        let storage = storage
        let notes = storage.collection("a", as: [String: DocumentValue].self)
        let deepest = (0..<20).reduce(DocumentValue.integer(1)) { value, _ in .map(["n": value]) }
        try await notes.save(["n": deepest], id: "1")
        let fields = try await storage.getDocument("a/1").fields()
        try await storage.setDocument("a/1", fields)
        let tooDeep = DocumentValue.map(fields)
        await expectError(StorageError.self, .tooLarge) {
            try await notes.save(["n": tooDeep], id: "1")
        }
        await expectError(StorageError.self, .invalidArgument) {
            try await storage.setDocument("a/1", ["n": tooDeep])
        }
    }
}
