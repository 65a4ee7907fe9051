import Foundation
import KeelSecrets
import Testing

extension SecretStoreCheck {
    package static let writing: [Self] = [
        Self(.writing, "saving replaces the old secret") { test async throws in
            try await test.store.save("old", forKey: "key")
            try await test.store.save("new", forKey: "key")
            #expect(try await test.store.loadString(forKey: "key") == "new")
            #expect(try await test.store.list() == ["key"])
        },
        Self(.writing, "a shorter secret replaces a longer one completely") { test async throws in
            try await test.store.save(secretBytes(1, count: 5_000), forKey: "key")
            try await test.store.save("x", forKey: "key")
            #expect(try await test.store.load(forKey: "key") == Data("x".utf8))
        },
        Self(.writing, "an empty secret replaces a nonempty one") { test async throws in
            try await test.store.save("old", forKey: "key")
            try await test.store.save("", forKey: "key")
            #expect(try await test.store.load(forKey: "key").isEmpty)
            #expect(try await test.store.exists(forKey: "key"))
        },
        Self(.writing, "saving the same secret again succeeds") { test async throws in
            for _ in 0..<3 { try await test.store.save("same", forKey: "key") }
            #expect(try await test.store.loadString(forKey: "key") == "same")
        },
        Self(.writing, "saving one key keeps the others", holding: ["A": "1", "B": "2"]) {
            test async throws in
            try await test.store.save("3", forKey: "A")
            #expect(try await test.store.loadString(forKey: "B") == "2")
        },
        Self(.writing, "the last of twenty replacements is kept") { test async throws in
            for number in 0..<20 { try await test.store.save("\(number)", forKey: "key") }
            #expect(try await test.store.loadString(forKey: "key") == "19")
            #expect(try await test.store.list() == ["key"])
        },
    ]

    package static let removal: [Self] = [
        Self(.removal, "a deleted secret is not found", holding: ["A": "1"]) { test async throws in
            try await test.store.delete(forKey: "A")
            #expect(try await test.store.exists(forKey: "A") == false)
            #expect(try await test.store.list().isEmpty)
        },
        Self(.removal, "deleting an absent key succeeds") { test async throws in
            try await test.store.delete(forKey: "absent")
        },
        Self(.removal, "deleting twice succeeds", holding: ["A": "1"]) { test async throws in
            try await test.store.delete(forKey: "A")
            try await test.store.delete(forKey: "A")
        },
        Self(.removal, "deleting one key keeps the others", holding: ["A": "1", "B": "2"]) {
            test async throws in
            try await test.store.delete(forKey: "A")
            #expect(try await test.store.loadString(forKey: "B") == "2")
            #expect(try await test.store.list() == ["B"])
        },
        Self(.removal, "a deleted key can be saved again", holding: ["A": "1"]) {
            test async throws in
            try await test.store.delete(forKey: "A")
            try await test.store.save("2", forKey: "A")
            #expect(try await test.store.loadString(forKey: "A") == "2")
        },
    ]

    package static let listing: [Self] = [
        Self(
            .listing,
            "keys are listed in byte order",
            needs: [.writable, .anyNames]
        ) { test async throws in
            for key in ["b", "\u{e4}", "B", "a", "10", "2", "aa"] {
                try await test.store.save("x", forKey: key)
            }
            let listed = try await test.store.list()
            #expect(listed == ["10", "2", "B", "a", "aa", "b", "\u{e4}"])
        },
        Self(.listing, "forty keys are each listed once") { test async throws in
            let keys = (10..<50).map { "K\($0)" }
            for key in keys.reversed() { try await test.store.save(key, forKey: key) }
            #expect(try await test.store.list() == keys)
        },
        Self(.listing, "a replaced key is listed once", holding: ["A": "1"]) { test async throws in
            try await test.store.save("2", forKey: "A")
            #expect(try await test.store.list() == ["A"])
        },
        Self(.listing, "the list reflects saves and deletions") { test async throws in
            try await test.store.save("1", forKey: "A")
            #expect(try await test.store.list() == ["A"])
            try await test.store.save("2", forKey: "B")
            #expect(try await test.store.list() == ["A", "B"])
            try await test.store.delete(forKey: "A")
            #expect(try await test.store.list() == ["B"])
        },
    ]
}
