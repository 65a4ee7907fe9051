import Foundation
import KeelSecrets
import Testing

extension SecretStoreCheck {
    package static let reading: [Self] = [
        Self(.reading, "a key that was never saved is not found", needs: []) {
            test async throws in
            #expect(
                await test.code { () async throws(SecretError) in
                    _ = try await test.store.load(forKey: "ABSENT")
                } == .keyNotFound
            )
            #expect(try await test.store.loadIfPresent(forKey: "ABSENT") == nil)
        },
        Self(.reading, "a saved secret is found", needs: [], holding: ["A": "one"]) {
            test async throws in
            #expect(try await test.store.load(forKey: "A") == Data("one".utf8))
        },
        Self(.reading, "loading does not consume a secret", needs: [], holding: ["A": "one"]) {
            test async throws in
            for _ in 0..<3 { #expect(try await test.store.loadString(forKey: "A") == "one") }
        },
        Self(
            .reading,
            "each key has its own secret",
            needs: [],
            holding: ["A": "1", "B": "2", "AB": "3"]
        ) { test async throws in
            #expect(try await test.store.loadString(forKey: "A") == "1")
            #expect(try await test.store.loadString(forKey: "B") == "2")
            #expect(try await test.store.loadString(forKey: "AB") == "3")
        },
        Self(.reading, "the store reports whether a key exists", needs: [], holding: ["A": "1"]) {
            test async throws in
            #expect(try await test.store.exists(forKey: "A"))
            #expect(try await test.store.exists(forKey: "B") == false)
        },
        Self(.reading, "another service sees nothing", needs: [], holding: ["A": "1"]) {
            test async throws in
            let other = try test.other()
            #expect(try await other.exists(forKey: "A") == false)
            #expect(try await other.list().isEmpty)
        },
        Self(
            .reading,
            "the list contains every key",
            needs: [],
            holding: ["B": "1", "A": "", "C": "3"]
        ) { test async throws in
            #expect(try await test.store.list() == ["A", "B", "C"])
        },
        Self(.reading, "an empty store lists nothing", needs: []) { test async throws in
            #expect(try await test.store.list().isEmpty)
        },
        Self(.reading, "an empty secret exists", needs: [], holding: ["A": ""]) {
            test async throws in
            #expect(try await test.store.load(forKey: "A").isEmpty)
            #expect(try await test.store.exists(forKey: "A"))
        },
    ]

    package static let bytes: [Self] =
        [1, 2, 15, 16, 17, 31, 32, 33, 255, 256, 4_095, 4_096, 65_535, 65_536].map { count in
            Self(.bytes, "\(count) bytes come back unchanged", needs: [.writable, .anyBytes]) {
                test async throws in
                let data = secretBytes(count, count: count)
                try await test.store.save(data, forKey: "key")
                #expect(try await test.store.load(forKey: "key") == data)
            }
        }
        + kinds.map { kind, data in
            Self(.bytes, "\(kind) come back unchanged", needs: [.writable, .anyBytes]) {
                test async throws in
                try await test.store.save(data, forKey: "key")
                #expect(try await test.store.load(forKey: "key") == data)
            }
        }

    private static let kinds: [(String, Data)] = [
        ("no bytes", Data()),
        ("all 256 byte values", Data(0...255)),
        ("zeros", Data(repeating: 0, count: 64)),
        ("bytes with a zero at each end", Data([0, 1, 2, 0])),
        ("bytes that are not UTF-8", Data([0xff, 0xfe, 0xc0, 0x80, 0xed, 0xa0, 0x80])),
        ("line breaks", Data("a\r\nb\nc\r".utf8)),
        ("spaces at each end", Data("  a  ".utf8)),
        ("bytes that look like JSON", Data(#"{"a": "b"}"#.utf8)),
    ]
}
