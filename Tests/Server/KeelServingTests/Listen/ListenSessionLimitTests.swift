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
        let words = Session.words(session.handle(.loaded(1, documents, at: Session.point(1))))
        #expect(words == ["current [2]", "noChange [] token"])
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

    @Test("Targets without a limit remember only so many documents together")
    func remembered() {
        var session = ListenSession(mostNames: 5)
        let red = DocumentQuery("notes").where(.equal("color", "red"))
        // The second of the targets has too many; the third one is small.
        for (number, count) in [3, 4, 2].enumerated() {
            let target = ListenTarget(id: Int32(number + 1), content: .query(red))
            let documents = (0..<count).map { Session.document(DocumentPath("notes/\($0)")) }
            _ = session.handle(.request(.add(target)))
            let event = ListenSession.Event.loaded(
                ListenSession.ReadID(number + 1),
                documents,
                at: Session.point(1)
            )
            #expect(
                Session.words(session.handle(event))
                    == ["current [\(target.id)]", "noChange [] token"],
                "no names are read"
            )
        }
        #expect(session.equalities.mapValues { $0.1.count } == [1: 3, 3: 2])
        // Any document may have been in the second one, but only once.
        let blue = ChangePage.Change.current(Session.document("notes/9", color: "blue"))
        let effects = session.handle(.page(Session.page(2, [blue])))
        #expect(Session.paths(effects) == ["notes/9"])
        #expect(Session.paths(session.handle(.page(Session.page(3, [blue])))).isEmpty)
    }

    @Test("Documents that enter the results later count towards what a stream remembers")
    func arrivals() {
        var session = ListenSession(mostNames: 5)
        let red = DocumentQuery("notes").where(.equal("color", "red"))
        for (id, count) in [(1, 3), (2, 1)] as [(Int32, Int)] {
            let documents = (0..<count).map { Session.document(DocumentPath("notes/\($0)")) }
            _ = session.handle(.request(.add(ListenTarget(id: id, content: .query(red)))))
            let read = ListenSession.ReadID(id)
            _ = session.handle(.loaded(read, documents, at: Session.point(1)))
        }
        let new = ChangePage.Change.current(Session.document("notes/9"))
        #expect(Session.paths(session.handle(.page(Session.page(2, [new])))) == ["notes/9"])
        #expect(session.equalities.mapValues { $0.1.count } == [2: 2], "the larger one forgets")
        let blue = ChangePage.Change.current(Session.document("notes/2", color: "blue"))
        #expect(Session.paths(session.handle(.page(Session.page(3, [blue])))) == ["notes/2"])
    }

    @Test("A target that has too many documents forgets them while they are loaded in parts")
    func forgottenParts() {
        var session = ListenSession(mostNames: 1)
        let red = DocumentQuery("notes").where(.equal("color", "red"))
        _ = session.handle(.request(.add(ListenTarget(id: 2, content: .query(red)))))
        func part(_ numbers: ClosedRange<Int>) -> [Document] {
            numbers.map { Session.document(DocumentPath("notes/\($0)")) }
        }
        _ = session.handle(.part(1, part(1...2), at: Session.point(1)))
        // One that the client has leaves the result, and one that has not been loaded yet.
        let blue = [1, 4].map { number in
            ChangePage.Change.current(
                Session.document(DocumentPath("notes/\(number)"), color: "blue")
            )
        }
        let effects = session.handle(.page(Session.page(2, blue)))
        #expect(Session.paths(effects) == ["notes/1", "notes/4"])
        let loaded = session.handle(.loaded(1, part(3...4), at: Session.point(1)))
        #expect(Session.paths(loaded) == ["notes/3"])
        #expect(session.equalities.isEmpty)
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

    /// Returns a session that keeps one change, and whose target 4 waits for the number of its documents.
    private static func comparing() -> ListenSession {
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
        return session
    }

    @Test("A store that is away while a resumed target is compared is not asked again and again")
    func comparison() {
        var session = Self.comparing()
        // The changes since then are more than the session keeps.
        _ = session.handle(Session.page(3, of: 50))
        let away = StorageError(.unavailable, "the store is away")
        #expect(Session.words(session.handle(.failed(3, away))) == ["end UNAVAILABLE"])
    }

    @Test("A resumed target whose comparison lacks changes catches up once, whatever follows")
    func repeatedComparison() {
        var session = Self.comparing()
        _ = session.handle(.counted(3, 3, at: Session.point(9)))
        let counts = ([5, 9, 10, 11] as [UInt8]).map { number in
            session.handle(Session.page(number, of: 50)).count { effect in
                if case .catchUp = effect { true } else { false }
            }
        }
        #expect(counts == [0, 1, 0, 0])
    }
}
