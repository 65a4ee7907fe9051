import KeelStorage
internal import KeelStorageAdapting
internal import KeelTestKit
import Testing

extension StorageAdapterCheck {
    static let pageChecks: [Self] =
        [1, 2, 3, 7].map { limit in
            log("pages of \(limit) contain every document and report when they are complete") {
                store in
                var follower = ChangeFollower(store, after: try await store.position())
                for number in Int64(0)..<10 {
                    try await store.set(["n": .integer(number)], "\(number)")
                }
                var page = try await follower.step(limit: limit)
                while !page.isCaughtUp, follower.changes.count < 100 {
                    #expect(follower.documents.count < 10)
                    page = try await follower.step(limit: limit)
                }
                #expect(follower.documents.count == 10)
            }
        } + [
            log("a page that lacks changes of a batch is not caught up") { store in
                var follower = ChangeFollower(store, after: try await store.position())
                try await store.commit(
                    .set(["n": 1], at: store.path("a")),
                    .set(["n": 1], at: store.path("b"))
                )
                #expect(try await follower.step(limit: 1).isCaughtUp == false)
            },
            log("a removal is not older than a recreated state shown before") {
                store in
                let cursor = try await store.position()
                try await store.set(["n": 1])
                try await store.client.deleteDocument(store.path())
                try await store.set(["n": 2])
                var follower = ChangeFollower(store, after: cursor)
                // The page shows the present state, which is ahead of the remaining entries.
                try await follower.step(limit: 1)
                #expect(follower.changes == [.current(try await store.document())])
                try await store.client.deleteDocument(store.path())
                while try await !follower.step(limit: 1).isCaughtUp {}
                #expect(follower.documents.isEmpty)
            },
            log("removals of a long page are not older than states shown before") { store in
                let cursor = try await store.position()
                let ids = (0..<300).map { "\($0)" }
                let sets = try ids.map { try DocumentWrite.set(["n": 1], at: store.path($0)) }
                let deletions = ids.map { DocumentWrite(store.path($0), .delete) }
                for writes in [sets, deletions, sets] {
                    _ = try await store.adapter.commit([WriteBatch(writes)])
                }
                var follower = ChangeFollower(store, after: cursor)
                try await follower.step(limit: 299)
                #expect(follower.documents.count == 299)
                _ = try await store.adapter.commit([WriteBatch(deletions)])
                while try await !follower.step(limit: 299).isCaughtUp {}
                #expect(follower.documents.isEmpty)
            },
            log("reading a page twice returns the same page") { store in
                let cursor = try await store.position()
                for id in ["a", "b", "c"] { try await store.set(["n": 1], id) }
                let scope = ChangeScope.collections([store.collection])
                let request = ChangeRequest(after: cursor, scope: scope, limit: 2)
                let first = try await store.adapter.changes(request)
                #expect(try await store.adapter.changes(request).changes == first.changes)
            },
            log("an old cursor returns the current state") { store in
                let cursor = try await store.position()
                try await store.set(["n": 1])
                var first = ChangeFollower(store, after: cursor)
                try await first.catchUp()
                try await store.set(["n": 2])
                var second = ChangeFollower(store, after: cursor)
                try await second.step(limit: 1)
                #expect(second.changes == [.current(try await store.document())])
            },
            log("a caught-up reader receives no change twice") { store in
                var follower = ChangeFollower(store, after: try await store.position())
                try await store.set(["n": 1])
                try await follower.catchUp()
                try await follower.catchUp()
                #expect(follower.changes.count == 1)
            },
            log("changes out of scope advance the cursor") { store in
                let start = try await store.position()
                var follower = ChangeFollower(store, after: start)
                for number in Int64(0)..<5 {
                    let path = CollectionPath(store.name + "x").document("\(number)")
                    try await store.client.setDocument(path, ["n": 1])
                }
                let page = try await follower.step()
                #expect(page.changes.isEmpty)
                #expect(page.next > start)
            },
            log("the position of a read is after the state that it saw") { store in
                try await store.set(["n": 1])
                var follower = ChangeFollower(store, after: try await store.position())
                try await follower.catchUp()
                #expect(follower.changes.isEmpty)
            },
            log("a query’s position continues without a gap") { store in
                try await store.set(["n": 1], "a")
                var request = ReadRequest(.query(try QueryValidation.checked(store.query)))
                request.needsPosition = true
                let read = try await store.adapter.read(request)
                try await store.set(["n": 2], "b")
                let position: ChangeCursor = try #require(read.position)
                var follower = ChangeFollower(store, after: position)
                try await follower.catchUp()
                #expect(follower.changes.map(\.path.id) == ["b"])
            },
            log("a receipt’s position is after its batch") { store in
                let receipt = try await store.set(["n": 1], "a")
                try await store.set(["n": 1], "b")
                let position: ChangeCursor = try #require(receipt.position)
                var follower = ChangeFollower(store, after: position)
                try await follower.catchUp()
                #expect(follower.changes.map(\.path.id) == ["b"])
            },
            log("positions increase with commits") { store in
                var positions: [ChangeCursor] = []
                for number in Int64(0)..<300 {
                    let receipt = try await store.set(["n": .integer(number)])
                    positions.append(try #require(receipt.position))
                }
                #expect(zip(positions, positions.dropFirst()).allSatisfy { $0 < $1 })
            },
            log("a removal’s revision is not below a revision delivered before") { store in
                var follower = ChangeFollower(store, after: try await store.position())
                // Each page holds one entry of the log, while the state is ahead of it.
                for number in Int64(0)..<3 { try await store.set(["n": .integer(number)]) }
                try await follower.step(limit: 1)
                try await store.client.deleteDocument(store.path())
                try await follower.catchUp(limit: 1)
                #expect(follower.documents.isEmpty)
            },
            foreign("in an unknown format", [0xFF, 0x66, 0x6F, 0x6F]),
            foreign("without bytes", []),
            foreign("longer than any valid cursor", Array(repeating: 1, count: 400)),
            log("a cursor beyond the end of the log is rejected as cursorExpired") { store in
                let position = try await store.position()
                let beyond = ChangeCursor(
                    bytes: Array(position.bytes.dropLast(8)) + Array(repeating: 0x7F, count: 8)
                )
                await store.expect(.cursorExpired) {
                    _ = try await store.adapter.changes(ChangeRequest(after: beyond))
                }
            },
        ]

    private static func foreign(_ what: String, _ bytes: [UInt8]) -> Self {
        log("a cursor \(what) is rejected as cursorExpired") { store in
            await store.expect(.cursorExpired) {
                _ = try await store.adapter.changes(
                    ChangeRequest(after: ChangeCursor(bytes: bytes))
                )
            }
        }
    }

    static let copyChecks: [Self] = [
        log("pages without a cursor return the current state of every document") { store in
            for number in Int64(0)..<10 {
                try await store.set(["n": .integer(number)], "\(number)")
            }
            try await store.set(["n": 99], "3")
            try await store.client.deleteDocument(store.path("4"))
            var follower = ChangeFollower(store, after: nil)
            try await follower.catchUp(limit: 4)
            try await follower.expectEqualToStore()
        },
        log("a copy of an empty collection is empty and continues from there") { store in
            var follower = ChangeFollower(store, after: nil)
            try await follower.catchUp()
            #expect(follower.documents.isEmpty)
            try await store.set(["n": 1])
            try await follower.catchUp()
            try await follower.expectEqualToStore()
        },
        log("a copy misses no deletions made during the copy") { store in
            for number in Int64(0)..<9 { try await store.set(["n": .integer(number)], "\(number)") }
            var follower = ChangeFollower(store, after: nil)
            try await follower.step(limit: 3)
            for id in ["0", "1", "2"] { try await store.client.deleteDocument(store.path(id)) }
            try await follower.catchUp(limit: 3)
            try await follower.expectEqualToStore()
        },
        log("a copy misses no additions made during the copy") { store in
            for number in Int64(0)..<9 {
                try await store.set(["n": .integer(number)], "m\(number)")
            }
            var follower = ChangeFollower(store, after: nil)
            try await follower.step(limit: 3)
            for id in ["a", "b", "z"] { try await store.set(["n": 1], id) }
            try await store.set(["n": 99], "m1")
            try await follower.catchUp(limit: 3)
            try await follower.expectEqualToStore()
        },
        log("a copy that is made during many writes ends as the store") { store in
            var random = SeededRandom(seed: 7)
            var follower = ChangeFollower(store, after: nil)
            for _ in 0..<200 {
                let path = store.path("\(Int.random(in: 0..<12, using: &random))")
                if Int.random(in: 0..<3, using: &random) == 0 {
                    try await store.client.deleteDocument(path)
                } else {
                    let number = Int64.random(in: 0..<4, using: &random)
                    try await store.client.setDocument(path, ["n": .integer(number)])
                }
                try await follower.step(limit: Int.random(in: 1...3, using: &random))
            }
            try await follower.catchUp(limit: 2)
            try await follower.expectEqualToStore()
        },
        log("a copy is caught up only at a state that the store had") { store in
            // Both documents always have the same number, because one batch writes them.
            func write(_ number: Int64) async throws {
                try await store.commit(
                    .set(["n": .integer(number)], at: store.path("a")),
                    .set(["n": .integer(number)], at: store.path("b"))
                )
            }
            try await write(0)
            var follower = ChangeFollower(store, after: nil)
            for number in 1..<40 {
                if number % 3 == 0 { try await write(Int64(number)) }
                guard try await follower.step(limit: 1).isCaughtUp else { continue }
                let numbers = Set(follower.documents.values.map { $0["n"] })
                #expect(numbers.count == 1)
            }
        },
    ]
}
