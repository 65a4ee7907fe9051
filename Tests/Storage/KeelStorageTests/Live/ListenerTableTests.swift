import KeelStorage
import KeelStorageAdapting
import KeelTestSupport
import Testing

@Suite("Listener table of a hub")
struct ListenerTableTests {
    private func listener(_ interest: Subscription.Interest) -> Subscription {
        Subscription(interest)
    }

    private func cursor(_ number: UInt8) -> ChangeCursor { ChangeCursor(bytes: [number]) }

    private func page(_ next: UInt8, _ paths: DocumentPath...) -> ChangePage {
        let changes = paths.map { ChangePage.Change.removed($0, Revision(number: Int64(next))) }
        return ChangePage(changes: changes, next: cursor(next), isCaughtUp: true)
    }

    private func next(_ table: inout ListenerTable) throws -> ChangeRequest {
        let turn = table.nextTurn(of: table.generation)
        return try #require(turn)
    }

    @Test("a turn requests the interests of the current listeners")
    func union() throws {
        var table = ListenerTable()
        let first = table.subscribe(listener(.document("a/1")))
        #expect(table.activate(first.id, at: cursor(1)).startsReader == true)
        var turn = try next(&table)
        #expect(turn.scope == .documents(["a/1"]))
        #expect(turn.waitTimeout != nil)
        let query = DocumentQuery(group: "g").where(.equal("n", 1))
        let second = table.subscribe(listener(.query(query)))
        #expect(second.isGivenUp)
        turn = try next(&table)
        #expect(turn.scope == ChangeScope.documents(["a/1"]).union(.query(query)))
        #expect(turn.waitTimeout == nil)
        #expect(table.unsubscribe(first.id) == false)
        #expect(table.deliver(page(2), of: table.generation) == false)
        turn = try next(&table)
        #expect(turn.scope == .query(query))
        #expect(turn.waitTimeout != nil)
        #expect(table.unsubscribe(second.id) == true)
        #expect(table.nextTurn(of: table.generation) == nil)
    }

    @Test("an interest already covered by the turn does not abort it")
    func known() throws {
        var table = ListenerTable()
        let all = table.subscribe(listener(.query(DocumentQuery("a"))))
        _ = table.activate(all.id, at: cursor(3))
        _ = table.nextTurn(of: table.generation)
        let one = table.subscribe(listener(.document("a/1")))
        #expect(!one.isGivenUp)
        #expect(table.activate(one.id, at: cursor(3)).state == .covered)
        #expect(table.activate(one.id, at: cursor(2)).state == .tooEarly)
    }

    @Test("a listener added during a nonwaiting turn is covered after it")
    func newcomer() throws {
        var table = ListenerTable()
        let first = table.subscribe(listener(.document("a/1")))
        _ = table.activate(first.id, at: cursor(1))
        _ = table.nextTurn(of: table.generation)
        #expect(table.subscribe(listener(.document("a/2"))).isGivenUp == true)
        _ = try next(&table)
        let mailbox = listener(.query(DocumentQuery("b")))
        let late = table.subscribe(mailbox)
        #expect(!late.isGivenUp)
        #expect(table.activate(late.id, at: cursor(9)).state == .unknown)
        // The page may have reported its document as having left another listener's scope.
        #expect(table.deliver(page(5, "b/1"), of: table.generation) == true)
        #expect(mailbox.take() == nil)
        #expect(table.activate(late.id, at: cursor(4)).state == .tooEarly)
        #expect(table.activate(late.id, at: cursor(5)).state == .covered)
        let turn = try next(&table)
        #expect(turn.waitTimeout == nil)
        #expect(turn.scope.includes(.collections(["b"])))
    }

    @Test("a replaced reader delivers nothing, fails no listener and gets no turn")
    func stale() throws {
        var table = ListenerTable()
        let mailbox = listener(.document("a/1"))
        let id = table.subscribe(mailbox).id
        _ = table.activate(id, at: cursor(1))
        let old = table.generation
        _ = table.nextTurn(of: old)
        #expect(table.subscribe(listener(.document("a/2"))).isGivenUp == true)
        #expect(table.nextTurn(of: old) == nil)
        #expect(table.deliver(page(7, "a/1"), of: old) == false)
        #expect(table.refuse(StorageError(.unknown, "too late"), of: old) == false)
        #expect(table.restart(at: cursor(8), of: old) == false)
        #expect(mailbox.take() == nil)
        #expect(table.cursor == cursor(1))
    }

    @Test("a rejected interest ends only its listener")
    func refused() throws {
        let error = StorageError(.permissionDenied, "not yours")
        var table = ListenerTable()
        let (good, bad, late) = (
            listener(.document("a/1")), listener(.document("x/1")), listener(.document("a/2"))
        )
        let first = table.subscribe(good).id
        _ = table.activate(first, at: cursor(1))
        _ = try next(&table)
        let second = table.subscribe(bad).id
        let third = table.subscribe(late).id
        _ = try next(&table)
        #expect(table.refuse(error, of: table.generation) == true)
        var turn = try next(&table)
        #expect(turn.scope == .documents(["a/1"]))
        #expect(table.deliver(page(2, "a/1"), of: table.generation) == false)
        turn = try next(&table)
        #expect(turn.waitTimeout != nil)
        // One listener has read meanwhile and is included again; the other one’s read fails.
        let activation = table.activate(third, at: cursor(1))
        #expect(activation.state == .tooEarly)
        #expect(activation.startsReader)
        #expect(table.activate(third, at: cursor(2)).state == .covered)
        turn = try next(&table)
        #expect(turn.scope == .documents(["a/1", "a/2"]))
        #expect(table.unsubscribe(second) == false)
        #expect(table.deliver(page(3, "a/1", "a/2"), of: table.generation) == false)
        for mailbox in [good, late] {
            guard case .changes? = mailbox.take() else {
                Issue.record("a listener was told nothing")
                continue
            }
        }
        // This listener has read but is still refused: it fails, and the others continue.
        let other = listener(.document("x/2"))
        _ = table.activate(table.subscribe(other).id, at: cursor(3))
        _ = try next(&table)
        #expect(table.refuse(error, of: table.generation) == true)
        guard case .failure? = other.take() else { return fail("the listener was not ended") }
        turn = try next(&table)
        #expect(turn.scope == .documents(["a/1", "a/2"]))
        #expect(table.refuse(error, of: table.generation) == false)
        for mailbox in [good, late] {
            guard case .failure? = mailbox.take() else {
                Issue.record("a listener was not ended")
                continue
            }
        }
    }

    @Test("a listener added during an outage is told of it and of its end")
    func lost() throws {
        var table = ListenerTable()
        let first = table.subscribe(listener(.document("a/1")))
        _ = table.activate(first.id, at: cursor(1))
        _ = try next(&table)
        _ = table.miss(of: table.generation, isLost: true)
        let late = listener(.document("a/2"))
        _ = table.activate(table.subscribe(late).id, at: cursor(1))
        for isLost in [true, false] {
            guard case .connection? = late.take() else {
                Issue.record("the listener was told nothing")
                return
            }
            #expect(late.isLost == isLost)
            _ = try next(&table)
            _ = table.deliver(page(2), of: table.generation)
        }
    }

    @Test("a listener that was left out during an outage is told of its end if all others fail")
    func lostAlone() throws {
        let error = StorageError(.permissionDenied, "not yours")
        var table = ListenerTable()
        _ = table.activate(table.subscribe(listener(.document("a/1"))).id, at: cursor(1))
        _ = try next(&table)
        _ = table.miss(of: table.generation, isLost: true)
        let late = listener(.document("x/1"))
        let id = table.subscribe(late).id
        for isContinued in [true, false] {
            _ = try next(&table)
            #expect(table.refuse(error, of: table.generation) == isContinued)
        }
        #expect(table.activate(id, at: cursor(1)).startsReader == true)
        _ = try next(&table)
        _ = table.deliver(page(2), of: table.generation)
        #expect(!late.isLost)
    }

    @Test("a listener that reads again at an expired cursor is told if the outage goes on")
    func lostAgain() throws {
        var table = ListenerTable()
        let mailbox = listener(.document("a/1"))
        _ = table.activate(table.subscribe(mailbox).id, at: cursor(1))
        for number in UInt8(2)...3 {
            _ = try next(&table)
            _ = table.miss(of: table.generation, isLost: true)
            guard case .connection? = mailbox.take() else {
                Issue.record("the listener was told nothing")
                return
            }
            #expect(mailbox.isLost)
            #expect(table.restart(at: cursor(number), of: table.generation) == true)
            guard case .reset? = mailbox.take() else {
                Issue.record("the listener does not read again")
                return
            }
            mailbox.hold(until: cursor(number))
            #expect(mailbox.take() == nil)
        }
    }

    @Test("a listener that reads again because of a change is told if the outage goes on")
    func lostAtChange() throws {
        var table = ListenerTable()
        let mailbox = listener(.document("a/1"))
        _ = table.activate(table.subscribe(mailbox).id, at: cursor(1))
        _ = try next(&table)
        _ = table.deliver(page(2, "a/1"), of: table.generation)
        _ = try next(&table)
        _ = table.miss(of: table.generation, isLost: true)
        guard case .changes? = mailbox.take() else { return fail("the change is missing") }
        #expect(mailbox.take() == nil)
        // As for a query with a limit that has lost a document; the read succeeds.
        mailbox.hold(until: cursor(2))
        guard case .connection? = mailbox.take() else { return fail("the outage is missing") }
        #expect(mailbox.isLost)
    }

    @Test("many conditions are replaced by entire collections")
    func conditions() throws {
        var table = ListenerTable()
        var first: ListenerTable.ID?
        for number in 0...ListenerTable.mostConditions {
            let query = DocumentQuery("a").where(.equal("n", .integer(Int64(number))))
            let id = table.subscribe(listener(.query(query))).id
            first = first ?? id
        }
        _ = table.activate(try #require(first), at: cursor(1))
        #expect(table.nextTurn(of: table.generation)?.scope == .collections(["a"]))
    }

    @Test(
        "listeners that come and go at random see the states of the store",
        arguments: [UInt64](0..<50)
    )
    func simulation(block: UInt64) {
        for seed in block * 20..<block * 20 + 20 {
            var simulation = ListenerSimulation(seed: seed)
            for _ in 0..<250 { simulation.step() }
            simulation.settle()
            #expect(simulation.flaws.isEmpty, "seed \(seed): \(simulation.flaws.prefix(3))")
        }
    }
}
