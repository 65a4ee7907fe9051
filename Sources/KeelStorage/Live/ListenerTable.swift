package import KeelDocuments
package import KeelStorageAdapting

/// The listeners of a hub, and how far its reader of the change log is: a pure state machine.
///
/// The reader takes *turns*: each asks for the changes after ``cursor`` in the union of the
/// listeners' interests. A listener whose interest a turn does not have is *covered* from the next
/// turn on: the position where that begins is the earliest at which its own read may be.
///
/// A turn that waits for changes is given up when a listener comes that it does not cover; the one
/// after it does not wait and is never given up, so that the reader gets on however often listeners
/// come. Interests of listeners that have left go with the next turn.
package struct ListenerTable: Sendable {
    package typealias ID = UInt64

    /// What becomes of a listener that has read its first state.
    package enum Activation: Sendable, Equatable {
        /// Its mailbox has every change after its read.
        case covered
        /// The reader had come further than the listener's read: it has to read again.
        case tooEarly
        /// It is known after the reader's turn.
        case unknown
    }

    /// The conditions that one scope has at most; with more, whole collections are asked for.
    package static let mostConditions = 32

    private var nextID: ID = 0
    private var subscriptions: [ID: Subscription] = [:]
    private var interested = InterestIndex<ID>()
    /// The listeners that have read, which shows that what they ask is answered.
    private var readers: Set<ID> = []
    /// The listeners that a refused turn had and that have not read: turns do without them.
    private var excluded: Set<ID> = []
    /// The scope of the last turn that was answered.
    private var accepted = ChangeScope()
    /// How many listeners have each interest.
    private var interests: [ChangeScope: Int] = [:]
    private var union: ChangeScope?
    /// Which reader may still tell something: one that was cancelled can come back with a page.
    package private(set) var generation: UInt64 = 0
    /// How far the reader has come; nil while there is none.
    package private(set) var cursor: ChangeCursor?
    /// The request under way; one that waits is given up for a listener that it does not cover.
    private var turn: ChangeRequest?
    /// Whether the next turn is to come back at once.
    private var isHasty = false
    /// From where on each listener gets what concerns it.
    private var coverage: [ID: ChangeCursor] = [:]
    /// The listeners that the turn under way does not cover.
    private var newcomers: Set<ID> = []
    /// Listeners with changes that have not been published.
    private var staged: Set<ID> = []

    package init() {}

    /// How many listeners there are.
    package var count: Int { subscriptions.count }

    // MARK: Coming and going

    /// Opens a mailbox.
    ///
    /// - Returns: The listener's id, and whether the turn under way has been given up for it: the
    ///   reader is to be replaced by one of the new generation.
    package mutating func subscribe(_ subscription: Subscription) -> (id: ID, isGivenUp: Bool) {
        nextID += 1
        let id = nextID
        subscriptions[id] = subscription
        interested.insert(id, for: subscription.scope)
        return (id, include(id, subscription.scope))
    }

    /// Asks for an interest from the next turn on, or from the one under way if it has it.
    ///
    /// - Returns: Whether the turn under way has been given up.
    private mutating func include(_ id: ID, _ scope: ChangeScope) -> Bool {
        interests[scope, default: 0] += 1
        if interests[scope] == 1 { union?.formUnion(scope) }
        guard let cursor else { return false }
        guard let turn, !turn.scope.includes(scope) else {
            coverage[id] = cursor
            return false
        }
        isHasty = true
        guard turn.waitsUpTo != nil else {
            newcomers.insert(id)
            return false
        }
        coverage[id] = cursor
        generation += 1
        self.turn = nil
        return true
    }

    /// Asks for a listener's interest no more.
    private mutating func leaveOut(_ id: ID, _ scope: ChangeScope) {
        interests[scope] = interests[scope].flatMap { $0 > 1 ? $0 - 1 : nil }
        if interests[scope] == nil { union = nil }
        coverage[id] = nil
        newcomers.remove(id)
        staged.remove(id)
    }

    /// Closes a mailbox.
    ///
    /// - Returns: Whether it was the last one: the reader is to be cancelled.
    package mutating func unsubscribe(_ id: ID) -> Bool {
        guard let subscription = subscriptions.removeValue(forKey: id) else { return false }
        interested.remove(id, for: subscription.scope)
        readers.remove(id)
        if excluded.remove(id) == nil { leaveOut(id, subscription.scope) }
        guard subscriptions.isEmpty else { return false }
        end()
        return true
    }

    private mutating func end() {
        generation += 1
        cursor = nil
        turn = nil
        accepted = ChangeScope()
        coverage = [:]
        newcomers = []
        staged = []
        isHasty = false
    }

    /// Takes the position of a listener's first read.
    ///
    /// - Returns: What becomes of the listener, and whether a reader of the new generation is to be
    ///   started.
    package mutating func activate(
        _ id: ID,
        at position: ChangeCursor
    ) -> (state: Activation, startsReader: Bool) {
        guard let subscription = subscriptions[id] else { return (.covered, false) }
        readers.insert(id)
        let isGivenUp = excluded.remove(id) != nil && include(id, subscription.scope)
        guard cursor != nil else {
            generation += 1
            begin(at: position)
            return (.covered, true)
        }
        guard let start = coverage[id] else { return (.unknown, isGivenUp) }
        return (start <= position ? .covered : .tooEarly, isGivenUp)
    }

    private mutating func begin(at position: ChangeCursor) {
        cursor = position
        turn = nil
        newcomers = []
        staged = []
        for id in subscriptions.keys where !excluded.contains(id) { coverage[id] = position }
    }

    // MARK: The reader

    /// The reader's next request; nil if the reader is not the one that counts.
    package mutating func nextTurn(of reader: UInt64) -> ChangeRequest? {
        guard reader == generation, let cursor else { return nil }
        let waits: Duration? = isHasty ? nil : .seconds(30)
        let next = ChangeRequest(after: cursor, scope: scope(), waitsUpTo: waits)
        turn = next
        isHasty = false
        return next
    }

    private mutating func scope() -> ChangeScope {
        var scope = union ?? ChangeScope()
        if union == nil { for interest in interests.keys { scope.formUnion(interest) } }
        if scope.selections.count > Self.mostConditions { scope = scope.unconditional }
        union = scope
        return scope
    }

    /// Ends a turn that has failed and is to be repeated.
    ///
    /// - Returns: Whether there are listeners to be told what ``activate(_:at:)`` says now.
    package mutating func miss(of reader: UInt64) -> Bool {
        guard reader == generation else { return false }
        return endTurn()
    }

    private mutating func endTurn() -> Bool {
        turn = nil
        guard let cursor, !newcomers.isEmpty else { return false }
        for id in newcomers { coverage[id] = cursor }
        newcomers = []
        return true
    }

    /// Puts the page of a turn into the mailboxes.
    ///
    /// - Returns: As ``miss(of:)``.
    package mutating func deliver(_ page: ChangePage, of reader: UInt64) -> Bool {
        guard reader == generation else { return false }
        for change in page.changes {
            for id in interested.keys(for: change.path) where coverage[id] != nil {
                subscriptions[id]?.stage(change)
                staged.insert(id)
            }
        }
        accepted = turn?.scope ?? accepted
        cursor = page.next
        if page.isCaughtUp {
            for id in staged { subscriptions[id]?.publish(at: page.next) }
            staged = []
        } else {
            isHasty = true
        }
        return endTurn()
    }

    /// Goes on from a position where the change log does not reach back to the reader's.
    ///
    /// - Returns: As ``miss(of:)``.
    package mutating func restart(at position: ChangeCursor, of reader: UInt64) -> Bool {
        guard reader == generation else { return false }
        begin(at: position)
        for subscription in subscriptions.values { subscription.reset() }
        return true
    }

    /// Takes the error of a turn that repeating does not mend.
    ///
    /// It is laid at the door of those whose interests no turn has been answered with. Such listeners
    /// that have not read are left out until they have: one whose question is refused then ends by
    /// itself. Otherwise they are ended, or all that the turn had where nothing tells them apart.
    ///
    /// - Returns: Whether the reader goes on.
    package mutating func refuse(_ error: StorageError, of reader: UInt64) -> Bool {
        guard reader == generation else { return false }
        let hasLeft = turn.map { !scope().includes($0.scope) } ?? false
        let asked = subscriptions.filter { coverage[$0.key] != nil }
        _ = endTurn()
        // What was refused may be what nobody asks for any more.
        guard !hasLeft else { return true }
        let new = asked.filter { !accepted.includes($0.value.scope) }
        let unread = new.filter { !readers.contains($0.key) }
        for (id, subscription) in unread {
            leaveOut(id, subscription.scope)
            excluded.insert(id)
        }
        guard unread.isEmpty || interests.isEmpty else { return true }
        let refused = unread.isEmpty ? (new.isEmpty ? asked : new) : [:]
        for (id, subscription) in refused {
            leaveOut(id, subscription.scope)
            excluded.insert(id)
            subscription.fail(error)
        }
        guard interests.isEmpty else { return true }
        end()
        return false
    }
}
