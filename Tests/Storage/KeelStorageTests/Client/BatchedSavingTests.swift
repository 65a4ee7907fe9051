import KeelStorage
import Testing

@Suite("Storing many values")
struct BatchedSavingTests {
    private struct Note: Codable, Sendable, Identifiable {
        var id: Int
        var text: String
    }

    @Test("saveAll reads a lazy sequence in batches of 500 values or 4 MiB")
    func streams() async throws {
        let adapter = StandInAdapter(InMemoryStorageAdapter())
        let notes = StorageClient(adapter).collection("notes", as: Note.self)
        let text = String(repeating: "x", count: 100_000)
        let paths = try await notes.saveAll(
            (0..<1_200).lazy.map { Note(id: $0, text: $0 < 1_100 ? "" : text) }
        )
        #expect(paths.map(\.id) == (0..<1_200).map(String.init))
        #expect(adapter.commits.allSatisfy { $0.count == 1 })
        let sizes = adapter.commits.map { $0[0].writes.count }
        #expect(sizes.prefix(2) == [500, 500])
        #expect(sizes.reduce(0, +) == 1_200 && sizes.count > 4)
    }

    @Test("saveAll stores the values before one that cannot be encoded and reports their number")
    func stops() async throws {
        struct Odd: Encodable, Decodable, Sendable, Identifiable {
            var id: Int
            func encode(to encoder: any Encoder) throws {
                if id == 700 {
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
        let error = await #expect(throws: StorageError.self) {
            try await odd.saveAll((0..<1_000).map(Odd.init))
        }
        #expect(error?.code == .encodingFailed)
        #expect(error?.effect == .unknown)
        #expect(error?.message.contains("500") == true)
        #expect(adapter.commits.count == 1)
    }
}
