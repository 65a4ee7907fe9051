import KeelCache
import Testing

extension CacheTierCheck {
    package static let removal: [Self] = [
        Self(.removal, "entries removed by key are gone, and the others stay") {
            test async throws in
            try await test.write(test.record("a"), test.record("b"), test.record("c"))
            try await test.remove("a", "c")
            #expect(try await test.found("a", "b", "c") == ["b"])
        },
        Self(.removal, "removing missing keys or no keys succeeds") { test async throws in
            try await test.write(test.record("a"))
            try await test.remove("b")
            try await test.remove(.keys([]))
            #expect(try await test.found("a") == ["a"])
        },
        Self(.removal, "an entry written after its removal is found") { test async throws in
            try await test.write(test.record("a", [1]))
            try await test.remove("a")
            try await test.write(test.record("a", [2]))
            #expect(try await test.value("a") == [2])
        },
        Self(.removal, "removing everything leaves nothing, and new entries are stored") {
            test async throws in
            try await test.write(test.record("a"), test.record("b", tags: ["t"]))
            try await test.remove(.everything)
            #expect(try await test.found("a", "b") == [])
            #expect(try await test.tier.usage().entryCount == 0)
            try await test.write(test.record("b", [2]))
            #expect(try await test.value("b") == [2])
        },
        Self(.removal, "a flush restores no removed entry") { test async throws in
            try await test.write(test.record("a"), test.record("b"))
            try await test.flush()
            try await test.remove("a")
            try await test.flush()
            #expect(try await test.found("a", "b") == ["b"])
        },
    ]

    package static let tags: [Self] = [
        Self(.tags, "removes entries with the tag, alone or among others, and spares the rest") {
            test async throws in
            try await test.write(
                test.record("a", tags: ["x"]),
                test.record("b", tags: ["w", "x", "z"]),
                test.record("c", tags: ["y"]),
                test.record("d")
            )
            try await test.remove(.tag("x"))
            #expect(try await test.found("a", "b", "c", "d") == ["c", "d"])
        },
        Self(.tags, "spares entries written with the tag afterwards at the same moment") {
            test async throws in
            try await test.write(test.record("a", [1], tags: ["x"]))
            try await test.remove(.tag("x"))
            try await test.write(test.record("a", [2], tags: ["x"]), test.record("b", tags: ["x"]))
            #expect(try await test.value("a") == [2])
            #expect(try await test.found("b") == ["b"])
        },
        Self(.tags, "removes entries written after a removal when the tag is removed again") {
            test async throws in
            try await test.remove(.tag("x"))
            try await test.write(test.record("a", tags: ["x"]))
            try await test.remove(.tag("x"))
            #expect(try await test.found("a") == [])
        },
        Self(.tags, "spares an entry whose replacement lacks the tag") {
            test async throws in
            try await test.write(test.record("a", [1], tags: ["x"]))
            try await test.write(test.record("a", [2], tags: ["y"]))
            try await test.remove(.tag("x"))
            #expect(try await test.value("a") == [2])
        },
        Self(.tags, "uses the time of writing, not the time at which the value was created") {
            test async throws in
            let made = test.record("a", tags: ["x"])
            await test.pass(5)
            try await test.remove(.tag("x"))
            try await test.write(made)
            #expect(try await test.found("a") == ["a"])
        },
        Self(.tags, "removes an entry whose value has a later creation time") { test async throws in
            var record = test.record("a", tags: ["x"])
            record.created = test.later(3_600)
            try await test.write(record)
            try await test.remove(.tag("x"))
            #expect(try await test.found("a") == [])
        },
        Self(.tags, "accepts any tag: empty, long, unknown or with special characters") {
            test async throws in
            let tags = ["", "a b/c,d", "\u{1F95D}", String(repeating: "t", count: 500)]
            for (index, tag) in tags.enumerated() {
                try await test.write(test.record("\(index)", tags: [tag]))
            }
            try await test.remove(.tag("unknown"))
            #expect(try await test.found("0", "1", "2", "3") == ["0", "1", "2", "3"])
            for tag in tags { try await test.remove(.tag(tag)) }
            #expect(try await test.found("0", "1", "2", "3") == [])
        },
        Self(.tags, "removes later entries even after everything was removed") {
            test async throws in
            try await test.write(test.record("a", tags: ["x"]))
            try await test.remove(.everything)
            try await test.write(test.record("b", tags: ["x"]))
            #expect(try await test.found("a", "b") == ["b"])
            try await test.remove(.tag("x"))
            #expect(try await test.found("a", "b") == [])
        },
    ]

    package static let expiry: [Self] = [
        Self(.expiry, "an entry is found until its expiry, but not at that moment") {
            test async throws in
            try await test.write(test.record("a", expires: test.later(60)))
            await test.pass(59)
            #expect(try await test.found("a") == ["a"])
            await test.pass(1)
            #expect(try await test.found("a") == [])
        },
        Self(.expiry, "an entry without expiry is found after a thousand years") {
            test async throws in
            try await test.write(test.record("a"))
            await test.pass(1_000 * 365 * 86_400)
            #expect(try await test.found("a") == ["a"])
        },
        Self(.expiry, "an entry already expired when written is not found") {
            test async throws in
            try await test.write(test.record("a", [1]))
            try await test.write(test.record("a", [2], expires: test.now))
            #expect(try await test.value("a") == nil)
        },
        Self(.expiry, "removing expired entries spares the others") { test async throws in
            try await test.write(
                test.record("a", expires: test.later(5)),
                test.record("b", expires: test.later(50)),
                test.record("c")
            )
            await test.pass(10)
            try await test.remove(.expired(by: test.now))
            #expect(try await test.found("a", "b", "c") == ["b", "c"])
            #expect(try await test.tier.usage().entryCount == 2)
        },
        Self(.expiry, "an entry is replaced after it has expired") { test async throws in
            try await test.write(test.record("a", [1], expires: test.later(5)))
            await test.pass(10)
            try await test.write(test.record("a", [2], expires: test.later(5)))
            #expect(try await test.value("a") == [2])
        },
    ]
}
