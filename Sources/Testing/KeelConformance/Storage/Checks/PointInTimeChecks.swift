import KeelStorage
internal import KeelStorageAdapting
import Testing

extension StorageAdapterCheck {
    package static let pointInTime: [Self] = [
        past("contains a document as it was after each commit") { store in
            var times: [(Timestamp, Int64)] = []
            for number in Int64(1)...5 {
                times.append((try await store.set(["n": .integer(number)]).commitTime, number))
            }
            for (time, number) in times {
                #expect(try await store.asOf(time).fields() == ["n": .integer(number)])
            }
        },
        past("contains a document’s revision and times") { store in
            let time = try await store.set(["n": 1]).commitTime
            let document = try await store.document()
            try await store.set(["n": 2])
            #expect(try await store.asOf(time).document() == document)
        },
        past("does not contain a document before its creation") { store in
            let time = try await store.set(["n": 0], "other").commitTime
            try await store.set(["n": 1])
            #expect(try await store.asOf(time).fields() == nil)
        },
        past("contains a document that was since deleted or recreated") { store in
            let first = try await store.set(["n": 1]).commitTime
            let gone = try await store.client.deleteDocument(store.path()).commitTime
            #expect(try await store.asOf(first).fields() == ["n": 1])
            try await store.set(["n": 2])
            #expect(try await store.asOf(first).fields() == ["n": 1])
            #expect(try await store.asOf(gone).fields() == nil)
        },
        past("between two commits is the state after the first commit") { store in
            let time = try await store.set(["n": 1]).commitTime
            try await store.set(["n": 2], "other")
            let later = try await store.set(["n": 3]).commitTime
            let just = Timestamp(microseconds: later.microseconds - 1)
            #expect(try await store.asOf(just).fields() == ["n": 1])
            #expect(try await store.asOf(later).fields() == ["n": 3])
            #expect(try await store.asOf(time).fields("other") == nil)
        },
        past("contains a complete batch from its commit time on") { store in
            let before = try await store.set(["n": 0], "a").commitTime
            let time = try await store.commit(
                .set(["n": 1], at: store.path("a")),
                .set(["n": 1], at: store.path("b")),
                .set(["n": 2], at: store.path("a")),
                .set(["n": 1], at: store.path("c"))
            ).commitTime
            let then = try store.asOf(time)
            #expect(try await then.fields("a") == ["n": 2])
            #expect(try await then.ids(store.query) == ["a", "b", "c"])
            let earlier = try store.asOf(Timestamp(microseconds: time.microseconds - 1))
            #expect(try await earlier.ids(store.query) == ["a"])
            #expect(try await store.asOf(before).fields("a") == ["n": 0])
        },
        past("answers queries regardless of later changes") { store in
            try await store.fill(["a": ["n": 1], "b": ["n": 2], "c": ["n": 3], "d": ["n": 4]])
            let time = try await store.client.currentTime()
            try await store.client.deleteDocument(store.path("b"))
            try await store.set(["n": 0], "c")
            try await store.set(["n": 3], "e")
            let then = try store.asOf(time)
            let query = store.query.where(.greater("n", 1)).order(by: "n")
            #expect(try await then.ids(query) == ["b", "c", "d"])
            #expect(try await then.ids(query.limit(to: 2)) == ["b", "c"])
            #expect(try await then.ids(query.offset(1).limit(to: 1)) == ["c"])
            #expect(try await then.ids(query.limit(toLast: 2)) == ["c", "d"])
            #expect(try await then.ids(store.query) == ["a", "b", "c", "d"])
            #expect(try await store.ids(query) == ["e", "d"])
        },
        past("answers queries from declared indexes", .declaredIndexes) { store in
            let schema = StorageSchema(indexes: [
                IndexDefinition(store.name, [.ascending("g"), .ascending("n")])
            ])
            try await store.adapter.prepare(schema)
            for number in 0..<30 {
                try await store.set(
                    ["g": .integer(Int64(number % 2)), "n": .integer(Int64(number))],
                    "\(number)"
                )
            }
            let query = store.query.where(.equal("g", 1)).order(by: "n").limit(to: 5)
            let before = try await store.ids(query)
            let time = try await store.client.currentTime()
            try await store.set(["g": 0, "n": 1], "1")
            try await store.client.deleteDocument(store.path("3"))
            try await store.set(["g": 1, "n": 0], "0")
            #expect(try await store.asOf(time).ids(query) == before)
            #expect(try await store.ids(query) == ["0", "5", "7", "9", "11"])
        },
        past("answers queries over collection groups") { store in
            let name = store.name
            let deep = store.path("x").collection(name).document("y")
            try await store.client.setDocument(deep, ["n": 1])
            let time = try await store.set(["n": 2], "z").commitTime
            try await store.client.deleteDocument(deep)
            let group = DocumentQuery(group: name)
            #expect(try await store.asOf(time).client.count(group) == 2)
            #expect(try await store.client.count(group) == 1)
        },
        past("answers counts and sums", .aggregation) { store in
            try await store.fill(["a": ["n": 1], "b": ["n": 2]])
            let time = try await store.client.currentTime()
            try await store.set(["n": 10], "c")
            try await store.client.deleteDocument(store.path("a"))
            let then = try store.asOf(time).client
            #expect(try await then.count(store.query) == 2)
            let values = try await then.aggregate(store.query, [.sum("n"), .average("n")])
            #expect(values == [3, 1.5])
            #expect(try await store.client.count(store.query) == 2)
        },
        past("lists the collections of that time", .collectionListing) { store in
            let one = store.path().collection("one").document("x")
            let time = try await store.client.setDocument(one, ["n": 1]).commitTime
            let two = store.path().collection("two").document("x")
            try await store.client.setDocument(two, ["n": 1])
            try await store.client.deleteDocument(one)
            let then = try store.asOf(time).client
            #expect(try await then.collections(under: store.path()) == ["one"])
            #expect(try await store.client.collections(under: store.path()) == ["two"])
        },
        past("answers searches", .textSearch) { store in
            let search = SearchDefinition(store.name, fields: ["text"])
            try await store.adapter.prepare(StorageSchema(searches: [search]))
            try await store.fill(["a": ["text": "red apple"], "b": ["text": "green apple"]])
            let time = try await store.client.currentTime()
            try await store.set(["text": "yellow pear"], "a")
            try await store.set(["text": "apple"], "c")
            let then = try store.asOf(time)
            #expect(try await Set(then.ids(store.query.matching("apple"))) == ["a", "b"])
            #expect(try await then.ids(store.query.matching("pear")).isEmpty)
        },
        past("can be read again at the time of its snapshot") { store in
            try await store.set(["n": 1])
            var request = ReadRequest(.documents([store.path()]))
            request.needsTime = true
            let result = try await store.adapter.read(request)
            let time = try #require(result.time)
            try await store.set(["n": 2])
            request.asOf = time
            let again = try await store.adapter.read(request)
            #expect(again.payload == result.payload)
            #expect(again.time == time)
        },
        past("has a position from which the change log reports all later changes", .changeLog) {
            store in
            let time = try await store.set(["n": 1], "a").commitTime
            try await store.set(["n": 2], "b")
            try await store.client.deleteDocument(store.path("a"))
            var request = ReadRequest(.documents([]))
            (request.asOf, request.needsPosition) = (time, true)
            var cursor = try await store.adapter.read(request).position
            #expect(cursor != nil)
            var changed: Set<String> = []
            while true {
                let page = try await store.adapter.changes(
                    ChangeRequest(after: cursor, scope: .collections([store.collection]))
                )
                changed.formUnion(page.changes.map(\.path.id))
                cursor = page.next
                if page.isCaughtUp { break }
            }
            #expect(changed.isSuperset(of: ["a", "b"]))
        },
        past("with a future time is rejected") { store in
            let time = try await store.set(["n": 1]).commitTime
            let future = Timestamp(microseconds: time.microseconds + 3_600_000_000)
            await store.expect(.invalidArgument) { _ = try await store.asOf(future).document() }
        },
        past("from before the history is rejected") { store in
            try await store.set(["n": 1])
            let ancient = Timestamp(microseconds: -1)
            await store.expect(.snapshotTooOld) { _ = try await store.asOf(ancient).document() }
        },
        past("cannot be written to") { store in
            let then = try store.asOf(try await store.set(["n": 1]).commitTime)
            await store.expect(.readOnly) { try await then.set(["n": 2]) }
            await store.expect(.readOnly) {
                try await then.client.transaction { transaction in
                    _ = try await transaction.getDocument(store.path())
                    try transaction.update(store.path(), [.set("n", to: 2)])
                }
            }
            #expect(try await store.fields() == ["n": 1])
        },
        past("does not change during concurrent writes") { store in
            let time = try await store.set(["n": 0], "a").commitTime
            let then = try store.asOf(time)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...20 {
                    group.addTask {
                        try await store.set(["n": .integer(Int64(number))], "a")
                        try await store.set(["n": 1], "\(number)")
                        #expect(try await then.fields("a") == ["n": 0])
                        #expect(try await then.ids(store.query) == ["a"])
                    }
                }
                try await group.waitForAll()
            }
        },
    ]

    private static func past(
        _ promise: String,
        _ needs: StorageCapabilities = [],
        _ body: @escaping @Sendable (StoreUnderTest) async throws -> Void
    ) -> Self {
        Self(.pointInTime, "a past state \(promise)", needs: needs.union(.pointInTimeReads), body)
    }
}

extension StoreUnderTest {
    fileprivate func asOf(_ time: Timestamp) throws -> StoreUnderTest {
        StoreUnderTest(adapter, client: try client.asOf(time), named: name)
    }
}

extension ReadResult.Payload {
    fileprivate static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.documents(let one), .documents(let other)): one == other
        default: false
        }
    }
}
