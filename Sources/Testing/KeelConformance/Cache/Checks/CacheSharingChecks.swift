import KeelCache
import Testing

extension CacheTierCheck {
    package static let concurrency: [Self] = [
        Self(.concurrency, "a read during writes returns one value in full") { test async throws in
            let tier = try test.tier
            let now = test.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<4 {
                    group.addTask { () async throws in
                        for round in 0..<50 {
                            // The first byte identifies the value and determines its length.
                            let seed = UInt8(writer * 50 + round)
                            let body = [seed] + patterned(Int(seed), count: 100 + 37 * Int(seed))
                            try await tier.write([
                                CacheRecord(key: [1], body: .bytes(body), created: now)
                            ])
                        }
                    }
                    group.addTask { () async throws in
                        for _ in 0..<200 {
                            guard let value = try await tier.read([1])?.body.bytes() else {
                                continue
                            }
                            let seed = Int(value[0])
                            #expect(Array(value[1...]) == patterned(seed, count: 100 + 37 * seed))
                        }
                    }
                }
                try await group.waitForAll()
            }
        },
        Self(.concurrency, "an entry written by one task is found by every task") {
            test async throws in
            let tier = try test.tier
            let now = test.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<8 {
                    group.addTask { () async throws in
                        for round in 0..<50 {
                            let key = [UInt8(task), UInt8(round)]
                            try await tier.write([
                                CacheRecord(key: key, body: .bytes(key), created: now)
                            ])
                            let value = try await Task { try await tier.read(key) }.value
                            #expect(try value?.body.bytes() == key)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await tier.usage().entryCount == 400)
        },
        Self(.concurrency, "an entry removed by one task is found by no task") {
            test async throws in
            let tier = try test.tier
            let now = test.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<8 {
                    group.addTask { () async throws in
                        let tag = "t\(task)"
                        for round in 0..<30 {
                            let key = [UInt8(task), UInt8(round)]
                            try await tier.write([
                                CacheRecord(key: key, body: .bytes(key), created: now, tags: [tag])
                            ])
                            try await tier.remove(round % 2 == 0 ? .tag(tag) : .keys([key]))
                            let value = try await Task { try await tier.read(key) }.value
                            #expect(value == nil)
                        }
                    }
                }
                try await group.waitForAll()
            }
        },
    ]

    package static let usage: [Self] = [
        Self(.usage, "counts entries once, however often they are written") { test async throws in
            try await test.write(test.record("a"), test.record("b"))
            try await test.write(test.record("a", [2]))
            #expect(try await test.tier.usage().entryCount == 2)
            try await test.remove("a")
            #expect(try await test.tier.usage().entryCount == 1)
        },
        Self(.usage, "counts hits and misses") { test async throws in
            try await test.write(test.record("a"))
            _ = try await test.found("a", "b", "a", "c", "a")
            let usage = try await test.tier.usage()
            #expect(usage.hitCount == 3 && usage.missCount == 2)
        },
        Self(.usage, "counts at least the bytes of its values and no damage") {
            test async throws in
            try await test.write(test.record("a", patterned(1, count: 5_000)))
            try await test.flush()
            let usage = try await test.tier.usage()
            #expect(usage.byteCount >= 5_000)
            #expect(usage.damagedCount == 0)
        },
    ]

    package static let durability: [Self] = [
        Self(.durability, "flushed entries are found unchanged after reopening", needs: .durability)
        {
            test async throws in
            let written = test.record("a", [1, 2, 3], expires: test.later(60), tags: ["x"])
            try await test.write(written, test.record("b", patterned(1, count: 300_000)))
            try await test.flush()
            try await test.reopen()
            let read = try #require(try await test.read("a"))
            #expect(try read.body.bytes() == [1, 2, 3])
            #expect(read.created == written.created && read.expires == written.expires)
            #expect(read.tags == ["x"])
            #expect(try await test.value("b") == patterned(1, count: 300_000))
        },
        Self(.durability, "an entry that expired in the meantime is not found", needs: .durability)
        {
            test async throws in
            try await test.write(test.record("a", expires: test.later(60)), test.record("b"))
            try await test.flush()
            try await test.reopen(after: .seconds(60))
            #expect(try await test.found("a", "b") == ["b"])
        },
        Self(.durability, "removals by key survive reopening", needs: .durability) {
            test async throws in
            try await test.write(test.record("a"), test.record("b"))
            try await test.flush()
            try await test.remove("a")
            try await test.flush()
            try await test.reopen()
            #expect(try await test.found("a", "b") == ["b"])
        },
        Self(.durability, "removals by tag survive reopening", needs: .durability) {
            test async throws in
            try await test.write(test.record("a", tags: ["x"]), test.record("b"))
            try await test.flush()
            try await test.remove(.tag("x"))
            try await test.write(test.record("c", tags: ["x"]))
            try await test.flush()
            try await test.reopen()
            #expect(try await test.found("a", "b", "c") == ["b", "c"])
            try await test.remove(.tag("x"))
            #expect(try await test.found("a", "b", "c") == ["b"])
        },
        Self(.durability, "removing everything survives reopening", needs: .durability) {
            test async throws in
            try await test.write(test.record("a"), test.record("b"))
            try await test.flush()
            try await test.remove(.everything)
            try await test.write(test.record("b", [2]))
            try await test.flush()
            try await test.reopen()
            #expect(try await test.found("a", "b") == ["b"])
            #expect(try await test.value("b") == [2])
        },
        Self(.durability, "the value written last is found after reopening", needs: .durability) {
            test async throws in
            for value in UInt8(1)...20 {
                try await test.write(test.record("a", [value]))
                if value % 5 == 0 { try await test.flush() }
            }
            try await test.reopen()
            #expect(try await test.value("a") == [20])
            #expect(try await test.tier.usage().entryCount == 1)
        },
    ]
}
