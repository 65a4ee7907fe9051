import KeelStorage
internal import KeelStorageAdapting
import Testing

extension StorageAdapterCheck {
    static let removalChecks: [Self] = [
        log("a removal is reported with the time of the commit’s outcome") { store in
            let created = try #require(try await store.set(["n": 1]).outcomes.first?.updateTime)
            var follower = ChangeFollower(store, after: try await store.position())
            let outcome = try await store.commit(.delete(store.path())).outcomes.first
            let removed = try #require(outcome?.updateTime, "a deletion has no time")
            #expect(outcome?.revision == nil)
            #expect(removed > created)
            try await follower.catchUp()
            guard case .removed(_, _, let time)? = follower.changes.last else {
                Issue.record("the deletion was not reported")
                return
            }
            #expect(time == removed)
            try await store.set(["n": 2])
            #expect(try await store.document().createTime > removed)
        },
        log("a deletion has the time of its batch, or none if it removes nothing") {
            store in
            let missing = try await store.commit(.delete(store.path("missing")))
            #expect(missing.outcomes.map(\.updateTime) == [nil])
            let verified = try await store.commit(DocumentWrite(store.path("missing"), .verify))
            #expect(verified.outcomes.map(\.updateTime) == [nil])
            var follower = ChangeFollower(store, after: try await store.position())
            let receipt = try await store.commit(
                .set(["n": 1], at: store.path()),
                .delete(store.path()),
                .set(["n": 1], at: store.path("e"))
            )
            let times = receipt.outcomes.map(\.updateTime)
            #expect(times[0] != nil && times[0] == times[1])
            try await follower.catchUp()
            let told = follower.changes.compactMap { change in
                if case .removed(_, _, let time) = change { time } else { nil }
            }
            #expect(told.count == 1 && told.first == times[1])
        },
        log("a returning reader receives only changed and removed documents") {
            store in
            let ids = (0..<30).map { "d\($0)" }
            try await store.fill(all: ids.map { ($0, ["n": 0]) })
            var follower = ChangeFollower(store, after: nil)
            try await follower.catchUp()
            let before = follower.changes.count
            for id in ids[0..<10] { try await store.client.deleteDocument(store.path(id)) }
            for round in Int64(1)...20 {
                for id in ids[10..<13] { try await store.set(["n": .integer(round)], id) }
            }
            for id in ids[13..<16] {
                try await store.client.deleteDocument(store.path(id))
                try await store.set(["n": 2], id)
            }
            for id in ["x", "y"] {
                try await store.set(["n": 1], id)
                try await store.client.deleteDocument(store.path(id))
            }
            try await follower.catchUp(limit: 4)
            try await follower.expectEqualToStore()
            let told = Set(follower.changes[before...].map(\.path.id))
            #expect(told.isSuperset(of: ids[0..<16]))
            #expect(told.isSubset(of: Set(ids[0..<16]).union(["x", "y"])))
        },
        log("a request that names its reader is answered like any other") { store in
            try await store.fill(all: (0..<5).map { ("d\($0)", ["n": 0]) })
            var request = ChangeRequest(scope: .collections([store.collection]), limit: 2)
            var told: [String] = []
            for lifetime in [Duration.seconds(86_400), .seconds(86_400), .zero] {
                request.reader = ChangeReader("check." + store.name, lifetime: lifetime)
                let page = try await store.adapter.changes(request)
                told += page.changes.map(\.path.id)
                request.after = page.next
            }
            #expect(told.sorted() == (0..<5).map { "d\($0)" })
        },
    ]
}
