import KeelStorage
internal import KeelStorageAdapting
import Testing

extension StorageAdapterCheck {
    static let timeChecks: [Self] = [
        log("a consistent point has the store’s time if reads have it") { store in
            guard try await store.time() != nil else { return }
            var follower = ChangeFollower(store, after: try await store.position())
            for number in Int64(0)..<5 {
                let receipt = try await store.set(["n": .integer(number)], "\(number)")
                let page = try await follower.step()
                let time = try #require(page.time, "a consistent point has no time")
                #expect(page.isCaughtUp)
                #expect(time >= receipt.commitTime)
                #expect(try await store.time().map { $0 >= time } == true)
            }
        },
        log("a page that is not at a consistent point has no time") { store in
            var follower = ChangeFollower(store, after: try await store.position())
            for id in ["a", "b", "c"] { try await store.set(["n": 1], id) }
            for _ in 0..<2 {
                let page = try await follower.step(limit: 1)
                #expect(page.time == nil)
            }
            let isTold = try await store.time() != nil
            #expect(try await (follower.step(limit: 1).time != nil) == isTold)
        },
        log("changes elsewhere advance the time of a page") { store in
            guard try await store.time() != nil else { return }
            var follower = ChangeFollower(store, after: try await store.position())
            let other = store.path().collection("elsewhere").document("x")
            for number in Int64(0)..<3 {
                let fields: DocumentFields = ["n": .integer(number)]
                let receipt = try await store.client.setDocument(other, fields)
                try await follower.catchUp()
                #expect(try #require(follower.time) >= receipt.commitTime)
            }
            #expect(follower.changes.isEmpty)
        },
        log("the time of reads never decreases") { store in
            var last: Timestamp?
            for number in Int64(0)..<10 {
                let receipt = try await store.set(["n": .integer(number / 2)])
                guard let time = try await store.time() else { return }
                #expect(time >= receipt.commitTime)
                if let last { #expect(time >= last) }
                last = time
            }
        },
    ]
}

extension StoreUnderTest {
    /// Returns the time of the state that a read sees; nil if the adapter does not know it.
    fileprivate func time() async throws -> Timestamp? {
        var request = ReadRequest(.documents([path()]))
        request.needsTime = true
        return try await adapter.read(request).time
    }
}
