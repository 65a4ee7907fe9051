import KeelStorage
import KeelStorageFirestore
import KeelTestSupport
import Testing

@testable import KeelServing

@Suite("Messages of a Listen stream")
struct ListenCodingTests {
    @Test("An existence filter names its documents by bits that clients can read")
    func filters() throws {
        let coding = ListenCoding(database: Served.database)
        let paths = (0..<100).map { DocumentPath("notes/\($0)") }
        let sent = coding.response(.filter(.init(target: 2, count: 100, paths: paths)))
        let bytes = try FirestoreProtobuf.bytes(sent, of: "ListenResponse")
        let received = try FirestoreProtobuf.json(bytes[...], of: "ListenResponse")
        for json in [sent, received] {
            let message = try WatchDecoding(database: Served.database).message(json)
            guard case .filter(let filter) = message else {
                Issue.record("\(json)")
                continue
            }
            #expect(filter.target == 2)
            #expect(filter.count == 100)
            let names = try #require(filter.names)
            #expect(paths.allSatisfy { names.mayContain(Served.name($0.string)) })
            let others = (0..<1_000).count { names.mayContain(Served.name("others/\($0)")) }
            #expect(others < 50, "about one in a hundred")
        }
    }

    @Test("A target that is wanted once is removed when it is current", arguments: [false, true])
    func once(joinsCurrent: Bool) throws {
        let request = try ListenCoding(database: Served.database).request([
            "addTarget": [
                "targetId": .integer(2), "once": true,
                "query": ["structuredQuery": ["from": [["collectionId": "notes"]]]],
            ]
        ])
        var session = ListenSession(joinsCurrent: joinsCurrent)
        _ = session.handle(.request(request))
        let effects = session.handle(.loaded(1, [], at: ListenSessionTests.point(1)))
        let current = joinsCurrent ? ["current [] token"] : ["current [2]", "noChange [] token"]
        #expect(ListenSessionTests.words(effects) == current + ["remove [2]"])
        #expect(session.contents.isEmpty)
    }

    @Test("A number of a target that does not fit is malformed, and removes no other target")
    func numbers() throws {
        let coding = ListenCoding(database: Served.database)
        guard case .remove(2) = try coding.request(["removeTarget": .integer(2)])
        else { return fail("The target is not removed.") }
        expectError(StorageError.self, .invalidArgument) {
            try coding.request(["removeTarget": .integer(1 << 32 + 2)])
        }
    }
}
