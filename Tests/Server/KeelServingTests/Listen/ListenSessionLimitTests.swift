import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import Testing

@testable import KeelServing

/// What a session refuses, or ends, for clients that want too much and stores that are away.
@Suite("Limits of streams of changes")
struct ListenSessionLimitTests {
    private typealias Session = ListenSessionTests

    private static func limited(_ id: Int32) -> ListenSession.Event {
        let query = DocumentQuery("notes").with { $0.limit = .first(5) }
        return .request(.add(ListenTarget(id: id, content: .query(query))))
    }

    @Test("Targets with a limit keep only so many documents: the newest ends, or the largest")
    func windows() {
        var session = ListenSession(mostWindowBytes: 3_000)
        let documents = (0..<5).map { Session.document(DocumentPath("notes/\($0)")) }
        _ = session.handle(Self.limited(2))
        #expect(
            Session.words(session.handle(.loaded(1, documents, at: Session.point(1))))
                == ["current [2]", "noChange [] token"]
        )
        _ = session.handle(Self.limited(4))
        #expect(
            Session.words(session.handle(.loaded(2, documents, at: Session.point(1))))
                == ["remove [4] RESOURCE_EXHAUSTED", "noChange [] token"]
        )
        let large = Session.document("notes/0", color: String(repeating: "x", count: 2_000))
        #expect(
            Session.words(session.handle(.page(Session.page(2, [.current(large)]))))
                == ["remove [2] RESOURCE_EXHAUSTED", "noChange [] token"]
        )
    }

    private static func names(_ id: Int32, _ count: Int) -> ListenSession.Event {
        let paths = (0..<count).map { DocumentPath("notes/\($0)") }
        return .request(.add(ListenTarget(id: id, content: .documents(paths))))
    }

    @Test("The targets of a stream name so many documents together")
    func documents() {
        var session = ListenSession()
        let most = ListenSession.mostDocuments
        #expect(
            Session.words(session.handle(Self.names(2, most + 1)))
                == ["add [2]", "remove [2] RESOURCE_EXHAUSTED"]
        )
        #expect(Session.words(session.handle(Self.names(2, most - 1))) == ["add [2]", "read 1"])
        #expect(
            Session.words(session.handle(Self.names(4, 2)))
                == ["add [4]", "remove [4] RESOURCE_EXHAUSTED"]
        )
        #expect(Session.words(session.handle(Self.names(4, 1))) == ["add [4]", "read 2"])
    }

    @Test("A target without a number gets a free one, even next to the highest number")
    func numbers() {
        var session = ListenSession()
        _ = session.handle(Self.limited(1))
        _ = session.handle(Self.limited(.max))
        #expect(Session.words(session.handle(Self.limited(0))) == ["add [2]", "read 3"])
        #expect(Session.words(session.handle(Self.limited(0))) == ["add [3]", "read 4"])
    }

    @Test("A store that is away while a resumed target is compared is not asked again and again")
    func comparison() {
        var session = ListenSession(mostKeptChanges: 1)
        let notes = ListenTarget.Content.query(DocumentQuery("notes"))
        _ = session.handle(.request(.add(ListenTarget(id: 2, content: notes))))
        _ = session.handle(.loaded(1, [], at: Session.point(2)))
        var target = ListenTarget(id: 4, content: notes)
        (target.resumption, target.isResumed) = (ResumeToken(Session.point(1).position), true)
        target.expectedCount = 3
        _ = session.handle(.request(.add(target)))
        let words = Session.words(session.handle(.caughtUp(2, [], at: Session.point(2))))
        #expect(words == ["read 3"])
        // The changes since then are more than the session keeps.
        _ = session.handle(Session.page(3, of: 50))
        let away = StorageError(.unavailable, "the store is away")
        #expect(Session.words(session.handle(.failed(3, away))) == ["end UNAVAILABLE"])
    }
}
