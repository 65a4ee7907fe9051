import KeelCache
import Testing

extension CacheTierCheck {
    /// The checks of removing entries by key, and all entries.
    public static let removal: [Self] = [
        Self(.removal, "what is removed by key is gone, and the rest stays") { test async throws in
            try await test.write(test.record("a"), test.record("b"), test.record("c"))
            try await test.remove("a", "c")
            #expect(try await test.found("a", "b", "c") == ["b"])
        },
        Self(.removal, "removing what is not there, or nothing, succeeds") { test async throws in
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
        Self(.removal, "removing everything leaves nothing, and new entries are taken") {
            test async throws in
            try await test.write(test.record("a"), test.record("b", tags: ["t"]))
            try await test.remove(.everything)
            #expect(try await test.found("a", "b") == [])
            #expect(try await test.tier.usage().entryCount == 0)
            try await test.write(test.record("b", [2]))
            #expect(try await test.value("b") == [2])
        },
        Self(.removal, "a flush brings nothing back") { test async throws in
            try await test.write(test.record("a"), test.record("b"))
            try await test.flush()
            try await test.remove("a")
            try await test.flush()
            #expect(try await test.found("a", "b") == ["b"])
        },
    ]

    /// The checks of removing entries by tag.
    public static let tags: [Self] = [
        Self(.tags, "removes what has the tag, alone or among others, and spares the rest") {
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
        Self(.tags, "spares what is written with the tag afterwards, in the same moment") {
            test async throws in
            try await test.write(test.record("a", [1], tags: ["x"]))
            try await test.remove(.tag("x"))
            try await test.write(test.record("a", [2], tags: ["x"]), test.record("b", tags: ["x"]))
            #expect(try await test.value("a") == [2])
            #expect(try await test.found("b") == ["b"])
        },
        Self(.tags, "removes what is written afterwards when it is removed again") {
            test async throws in
            try await test.remove(.tag("x"))
            try await test.write(test.record("a", tags: ["x"]))
            try await test.remove(.tag("x"))
            #expect(try await test.found("a") == [])
        },
        Self(.tags, "spares an entry that has lost the tag by being replaced") {
            test async throws in
            try await test.write(test.record("a", [1], tags: ["x"]))
            try await test.write(test.record("a", [2], tags: ["y"]))
            try await test.remove(.tag("x"))
            #expect(try await test.value("a") == [2])
        },
        Self(.tags, "counts the time of writing, not the time at which the value was made") {
            test async throws in
            let made = test.record("a", tags: ["x"])
            await test.pass(5)
            try await test.remove(.tag("x"))
            try await test.write(made)
            #expect(try await test.found("a") == ["a"])
        },
        Self(.tags, "removes an entry whose value claims to be made later") { test async throws in
            var record = test.record("a", tags: ["x"])
            record.created = test.later(3_600)
            try await test.write(record)
            try await test.remove(.tag("x"))
            #expect(try await test.found("a") == [])
        },
        Self(.tags, "takes any tag: empty, long, unknown, with marks") { test async throws in
            let tags = ["", "a b/c,d", "\u{1F95D}", String(repeating: "t", count: 500)]
            for (index, tag) in tags.enumerated() {
                try await test.write(test.record("\(index)", tags: [tag]))
            }
            try await test.remove(.tag("unknown"))
            #expect(try await test.found("0", "1", "2", "3") == ["0", "1", "2", "3"])
            for tag in tags { try await test.remove(.tag(tag)) }
            #expect(try await test.found("0", "1", "2", "3") == [])
        },
        Self(.tags, "outlives a removal of everything for what comes after it") {
            test async throws in
            try await test.write(test.record("a", tags: ["x"]))
            try await test.remove(.everything)
            try await test.write(test.record("b", tags: ["x"]))
            #expect(try await test.found("a", "b") == ["b"])
            try await test.remove(.tag("x"))
            #expect(try await test.found("a", "b") == [])
        },
    ]

    /// The checks of expiry.
    public static let expiry: [Self] = [
        Self(.expiry, "an entry is found up to the moment of its expiry, and not in it") {
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
        Self(.expiry, "an entry that has expired when it is written is not found") {
            test async throws in
            try await test.write(test.record("a", [1]))
            try await test.write(test.record("a", [2], expires: test.now))
            #expect(try await test.value("a") == nil)
        },
        Self(.expiry, "removing what has expired spares what has not") { test async throws in
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
