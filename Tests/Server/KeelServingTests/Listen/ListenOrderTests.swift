import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import Testing

@testable import KeelServing

/// The states of a document that a client receives for several targets before it shows any.
///
/// Until the next consistent point, the SDKs keep the last message about a document, also one with an earlier state.
///
/// Source: firebase/firebase-js-sdk `packages/firestore/src/remote/watch_change.ts`, `addDocumentToTarget` and
/// `removeDocumentFromTarget`.
@Suite("Order of a document's states in streams of changes")
struct ListenOrderTests {
    private typealias Session = ListenSessionTests

    private static let path: DocumentPath = "notes/a"

    private static func note(_ color: String, at time: Int64 = 1) -> Document {
        Document.stub(path, ["color": .string(color)], at: Timestamp(microseconds: time))
    }

    private static func target(
        _ id: Int32,
        color: String? = nil,
        limit: Int? = nil
    ) -> ListenTarget {
        var query = DocumentQuery("notes")
        if let color { query = query.where(.equal("color", .string(color))) }
        if let limit { query = query.limit(to: limit) }
        return ListenTarget(id: id, content: .query(query))
    }

    /// Returns a session with one complete target, whose read found some documents at the first point.
    private static func session(
        with target: ListenTarget,
        _ documents: [Document] = []
    ) -> ListenSession {
        var session = ListenSession()
        _ = session.handle(.request(.add(target)))
        _ = session.handle(.loaded(1, documents, at: Session.point(1)))
        return session
    }

    /// Returns the last state of the document that a client receives.
    private static func last(_ effects: [ListenSession.Effect]) -> String? {
        var last: String?
        for effect in effects {
            switch effect {
            case .send(.document(let change)): last = change.document["color"]?.stringValue
            case .send(.departure(let departure)):
                if departure.isDeleted { last = "deleted" }
            default: break
            }
        }
        return last
    }

    @Test(
        "A target that is ahead repeats a document behind an earlier state for another target",
        arguments: [nil, 1]
    )
    func ahead(limit: Int?) {
        var session = Self.session(with: Self.target(2, color: "red"))
        _ = session.handle(.request(.add(Self.target(4, color: "green", limit: limit))))
        var effects = session.handle(.loaded(2, [Self.note("green")], at: Session.point(3)))
        effects += session.handle(.page(Session.page(2, [.current(Self.note("red"))])))
        effects += session.handle(.page(Session.page(3, [.current(Self.note("green"))])))
        #expect(Self.last(effects) == "green")
        #expect(Session.words(effects) == ["current [4]", "noChange [] token"])
    }

    @Test("A target that is ahead repeats no document that a page has in a later state")
    func later() {
        var session = Self.session(with: Self.target(2, limit: 1), [Self.note("red")])
        _ = session.handle(.request(.add(Self.target(4, color: "green", limit: 1))))
        _ = session.handle(.loaded(2, [Self.note("green", at: 3)], at: Session.point(3)))
        // A page has the states at the time when it is read.
        let blue = ChangePage.Change.current(Self.note("blue", at: 4))
        #expect(Self.last(session.handle(.page(Session.page(2, [blue])))) == "blue")
        #expect(Self.last(session.handle(.page(Session.page(4, [blue])))) == "blue")
    }

    @Test("A document has its latest state, whichever of its targets is ahead", arguments: [2, 6])
    func latest(ahead: Int32) {
        var session = Self.session(with: Self.target(4))
        _ = session.handle(.request(.add(Self.target(ahead, color: "green", limit: 1))))
        let green = Self.note("green", at: 3)
        _ = session.handle(.loaded(2, [green], at: Session.point(3)))
        let red = ChangePage.Change.current(Self.note("red", at: 2))
        #expect(Self.last(session.handle(.page(Session.page(2, [red])))) == "green")
        #expect(Self.last(session.handle(.page(Session.page(3, [.current(green)])))) == "green")
    }

    @Test("A query with a limit repeats a document of which another target sent an earlier state")
    func overwritten() {
        var session = Self.session(with: Self.target(2, limit: 1), [Self.note("red")])
        _ = session.handle(.request(.add(Self.target(4, color: "green", limit: 1))))
        let blue = ChangePage.Change.current(Self.note("blue", at: 4))
        #expect(Self.last(session.handle(.page(Session.page(2, [blue])))) == "blue")
        let green = [Self.note("green", at: 3)]
        #expect(Self.last(session.handle(.loaded(2, green, at: Session.point(3)))) == "green")
        #expect(Self.last(session.handle(.page(Session.page(4, [blue])))) == "blue")
    }

    @Test("A target that is ahead repeats a document that was deleted and created again before")
    func createdAgain() {
        var session = Self.session(with: Self.target(2, color: "red"), [Self.note("red")])
        _ = session.handle(.request(.add(Self.target(4, color: "green"))))
        var effects = session.handle(.loaded(2, [Self.note("green")], at: Session.point(3)))
        let deletion = ChangePage.Change.removed(
            Self.path,
            Revision(number: 2),
            at: Session.point(2).time
        )
        effects += session.handle(.page(Session.page(2, [deletion])))
        effects += session.handle(.page(Session.page(3, [.current(Self.note("green"))])))
        #expect(Self.last(effects) == "green")
    }

    @Test("A resumed target that is compared repeats a document behind an earlier state")
    func compared() {
        var session = Self.session(with: Self.target(2, color: "red"))
        var target = Self.target(4, color: "green")
        (target.resumption, target.isResumed) = (ResumeToken(Session.point(1).position), true)
        target.expectedCount = 0
        _ = session.handle(.request(.add(target)))
        let found = [ChangePage.Change.current(Self.note("green"))]
        var effects = session.handle(.caughtUp(2, found, at: Session.point(3)))
        effects += session.handle(.page(Session.page(2, [.current(Self.note("red"))])))
        effects += session.handle(.page(Session.page(3, found)))
        #expect(Self.last(effects) == "green")
        let words = Session.words(session.handle(.counted(3, 1, at: Session.point(3))))
        #expect(words == ["filter 4 1", "read 4", "current [4]", "noChange [] token"])
    }

    @Test("A resumed target that is compared sends the last states also before the filter")
    func beforeFilter() {
        var session = Self.session(with: Self.target(2, color: "blue"))
        var target = Self.target(4, color: "green")
        (target.resumption, target.isResumed) = (ResumeToken(Session.point(1).position), true)
        target.expectedCount = 0
        _ = session.handle(.request(.add(target)))
        _ = session.handle(.caughtUp(2, [], at: Session.point(1)))
        var effects: [ListenSession.Effect] = []
        for (number, color) in [(2, "green"), (3, "blue")] as [(UInt8, String)] {
            // The client does not show these pages yet.
            let page = ChangePage(
                changes: [.current(Self.note(color))],
                next: Session.point(number).position,
                isCaughtUp: false
            )
            effects += session.handle(.page(page))
        }
        #expect(Self.last(effects) == "blue")
        effects += session.handle(.counted(3, 1, at: Session.point(2)))
        #expect(Session.words(effects) == ["filter 4 1"])
        #expect(Self.last(effects) == "blue")
    }

    @Test("A read before the stream's position sends no state that a later page has replaced")
    func behind() {
        let deletion = ChangePage.Change.removed(
            Self.path,
            Revision(number: 2),
            at: Session.point(3).time
        )
        let (red, point) = (Self.note("red"), Session.point(3))
        let events: [ListenSession.Event] = [
            .loaded(2, [red], at: point), .part(2, [red], at: point),
            .caughtUp(2, [.current(red)], at: point), .caughtUp(2, [deletion], at: point),
        ]
        for event in events {
            var session = Self.session(with: Self.target(2))
            var target = Self.target(4, color: "red")
            if case .caughtUp = event {
                target.resumption = ResumeToken(Session.point(1).position)
                target.isResumed = true
            }
            _ = session.handle(.request(.add(target)))
            // The client does not show this page yet.
            let page = ChangePage(
                changes: [.current(Self.note("blue"))],
                next: Session.point(5).position,
                isCaughtUp: false
            )
            let effects = session.handle(.page(page)) + session.handle(event)
            #expect(Self.last(effects) == "blue", "\(event)")
        }
    }

    @Test("A query with a limit that must be read again sends nothing of the first read")
    func readAgain() {
        var session = Self.session(with: Self.target(2))
        _ = session.handle(.request(.add(Self.target(4, color: "red", limit: 1))))
        // As many as a session keeps of one.
        let documents = (0..<17).map { Session.document(DocumentPath("notes/\($0)")) }
        let deletions = documents.map {
            ChangePage.Change.removed($0.path, Revision(number: 2), at: Session.point(5).time)
        }
        _ = session.handle(.page(Session.page(5, deletions)))
        var effects = session.handle(.loaded(2, documents, at: Session.point(3)))
        #expect(Session.words(effects) == ["read 3"])
        #expect(Session.paths(effects).isEmpty)
        effects = session.handle(.loaded(3, [Self.note("red")], at: Session.point(5)))
        #expect(Session.paths(effects) == [Self.path])
        #expect(Session.words(effects) == ["current [4]", "noChange [] token"])
    }

    @Test("A query with a limit that was ahead is sent again if a page makes a read necessary")
    func readBehind() {
        var session = Self.session(with: Self.target(4, color: "red"))
        _ = session.handle(.request(.add(Self.target(2, limit: 2))))
        // With the first document, as many as a session keeps of two.
        let others = (0..<17).map { Session.document(DocumentPath("notes/b\($0)")) }
        let found = [Self.note("green")]
        _ = session.handle(.loaded(2, found + others, at: Session.point(3)))
        let page = Session.page(2, [.current(Self.note("red"))])
        #expect(Self.last(session.handle(.page(page))) == "red")
        let changes: [ChangePage.Change] = others.map {
            .removed($0.path, Revision(number: 2), at: Session.point(4).time)
        }
        let next = Session.page(4, [.current(Self.note("green"))] + changes)
        #expect(Session.words(session.handle(.page(next))).first == "read 3")
        let effects = session.handle(.loaded(3, found, at: Session.point(4)))
        #expect(Session.paths(effects) == [Self.path])
        #expect(Self.last(effects) == "green")
    }

    @Test("A query with a limit that was ahead is sent again after the stream has started over")
    func restarted() {
        var session = Self.session(with: Self.target(4, color: "red"))
        _ = session.handle(.request(.add(Self.target(2, limit: 1))))
        let found = [Self.note("green")]
        _ = session.handle(.loaded(2, found, at: Session.point(3)))
        let page = Session.page(2, [.current(Self.note("red"))])
        #expect(Self.last(session.handle(.page(page))) == "red")
        #expect(Session.words(session.handle(.restarted)) == ["read 3", "read 4"])
        let effects = session.handle(.loaded(3, found, at: Session.point(3)))
        #expect(Session.paths(effects) == [Self.path])
    }
}
