import KeelStorage
import KeelTestSupport
import Testing

@Suite("Storing many values")
struct BatchedSavingTests {
    private struct Note: Codable, Sendable, Identifiable {
        var id: Int
        var text: String
    }

    @Test("saveAll reads a lazy sequence in batches of 500 values or 4 MiB, ten or 8 MiB at a time")
    func streams() async throws {
        let adapter = StandInAdapter(InMemoryStorageAdapter())
        let notes = StorageClient(adapter).collection("notes", as: Note.self)
        let text = String(repeating: "x", count: 100_000)
        let paths = try await notes.saveAll(
            (0..<6_300).lazy.map { Note(id: $0, text: $0 < 6_000 ? "" : text) }
        )
        #expect(paths.map(\.id) == (0..<6_300).map(String.init))
        let sizes = adapter.commits.map { $0.map(\.writes.count) }
        #expect(sizes.first == Array(repeating: 500, count: 10))
        // 300 documents of 100 kB are eight batches.
        #expect(sizes.dropFirst().map(\.count) == [3, 2, 2, 2, 1])
        #expect(sizes.joined().reduce(0, +) == 6_300)
    }

    @Test("saveAll stores the values before one that cannot be encoded and reports their number")
    func stops() async throws {
        struct Odd: Encodable, Decodable, Sendable, Identifiable {
            var id: Int
            func encode(to encoder: any Encoder) throws {
                if id == 5_700 {
                    throw EncodingError.invalidValue(
                        id,
                        .init(codingPath: [], debugDescription: "odd")
                    )
                }
                var container = encoder.singleValueContainer()
                try container.encode(["id": id])
            }
        }
        let adapter = StandInAdapter(InMemoryStorageAdapter())
        let odd = StorageClient(adapter).collection("odd", as: Odd.self)
        let error = await expectError(StorageError.self, .encodingFailed) {
            try await odd.saveAll((0..<6_000).map(Odd.init))
        }
        #expect(error?.effect == .unknown)
        #expect(error?.message.contains("5000") == true)
        #expect(adapter.commits.count == 1)
    }
}
