package import KeelDocuments
package import KeelStorageAdapting

/// The listeners of a hub and the progress of its change log reader, as a pure state machine.
///
/// The reader takes *turns*: each asks for changes in the union of the listeners' interests. A listener whose interest
/// is missing from a turn is *covered* from the next turn on, and must not have read earlier.
///
/// A waiting turn is abandoned for a new listener that it does not cover; the following turn does not wait and is never
/// abandoned, so that the reader makes progress.
package struct ListenerTable: Sendable {
    package typealias ID = UInt64

    /// The state of a listener after its first read.
    package enum Activation: Sendable, Equatable {
        /// Its mailbox has every change after its read.
        case covered
        /// The reader was ahead of the listener's read: the listener must read again.
        case tooEarly
        /// The answer is known at the end of the reader's turn.
        case unknown
    }

    /// The largest number of conditions in a scope; with more, the reader asks for whole collections.
    package static let mostConditions = 32

    private var nextID: ID = 0
    private var subscriptions: [ID: Subscription] = [:]
    private var interested = InterestIndex<ID>()
    private var readers: Set<ID> = []
    /// The listeners of a refused turn that have not read yet; turns leave them out.
    private var excluded: Set<ID> = []
    private var accepted = ChangeScope()
    private var interests: [ChangeScope: Int] = [:]
    private var union: ChangeScope?
    /// Identifies the current reader; pages of others are ignored.
    package private(set) var generation: UInt64 = 0
    package private(set) var cursor: ChangeCursor?
    private var turn: ChangeRequest?
    private var isHasty = false
    private var coverage: [ID: ChangeCursor] = [:]
    private var newcomers: Set<ID> = []
    private var staged: Set<ID> = []
    private var isLost = false

    package init() {}

    package var count: Int { subscriptions.count }

    // MARK: Subscribing

    /// Opens a mailbox.
    ///
    /// - Returns: The listener's id, and whether the current turn has been abandoned for it: the caller must then
    ///   start a reader of the new generation.
    package mutating func subscribe(_ subscription: Subscription) -> (id: ID, isGivenUp: Bool) {
        nextID += 1
        let id = nextID
        subscriptions[id] = subscription
        subscription.setLost(isLost)
        interested.insert(id, for: subscription.scope)
        return (id, include(id, subscription.scope))
    }

    /// Includes an interest; returns whether the current turn has been abandoned.
    private mutating func include(_ id: ID, _ scope: ChangeScope) -> Bool {
        interests[scope, default: 0] += 1
        if interests[scope] == 1 { union?.formUnion(scope) }
        guard let cursor else { return false }
        guard let turn, !turn.scope.includes(scope) else {
            coverage[id] = cursor
            return false
        }
        isHasty = true
        guard turn.waitTimeout != nil else {
            newcomers.insert(id)
            return false
        }
        coverage[id] = cursor
        generation += 1
        self.turn = nil
        return true
    }

    private mutating func leaveOut(_ id: ID, _ scope: ChangeScope) {
        interests[scope] = interests[scope].flatMap { $0 > 1 ? $0 - 1 : nil }
        if interests[scope] == nil { union = nil }
        coverage[id] = nil
        newcomers.remove(id)
        staged.remove(id)
    }

    /// Closes a mailbox; returns whether it was the last one: the caller must then cancel the reader.
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
        // Listeners that were left out may remain.
        setLost(false)
    }

    /// Records the position of a listener's first read.
    ///
    /// - Returns: The state of the listener, and whether the caller must start a reader of the new generation.
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

    /// Returns the reader's next request; nil if the reader has been replaced.
    package mutating func nextTurn(of reader: UInt64) -> ChangeRequest? {
        guard reader == generation, let cursor else { return nil }
        let waits: Duration? = isHasty ? nil : .seconds(30)
        let next = ChangeRequest(after: cursor, scope: scope(), waitTimeout: waits)
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

    /// Ends a failed turn; returns whether callers that wait for ``activate(_:at:)`` must ask again.
    ///
    /// With `isLost`, the store could not be reached, and the next turn does not wait for changes.
    package mutating func miss(of reader: UInt64, isLost: Bool) -> Bool {
        guard reader == generation else { return false }
        if isLost {
            setLost(true)
            isHasty = true
        }
        return endTurn()
    }

    private mutating func setLost(_ isLost: Bool) {
        guard isLost != self.isLost else { return }
        self.isLost = isLost
        for subscription in subscriptions.values { subscription.setLost(isLost) }
    }

    private mutating func endTurn() -> Bool {
        turn = nil
        guard let cursor, !newcomers.isEmpty else { return false }
        for id in newcomers { coverage[id] = cursor }
        newcomers = []
        return true
    }

    /// Puts the page of a turn into the mailboxes; returns the same as ``miss(of:isLost:)``.
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
            setLost(false)
        } else {
            isHasty = true
        }
        return endTurn()
    }

    /// Continues at a position after the cursor has expired; returns the same as ``miss(of:isLost:)``.
    package mutating func restart(at position: ChangeCursor, of reader: UInt64) -> Bool {
        guard reader == generation else { return false }
        begin(at: position)
        for subscription in subscriptions.values { subscription.reset() }
        // The position has just been read.
        setLost(false)
        return true
    }

    /// Handles the error of a turn that a retry cannot fix; returns whether the reader continues.
    ///
    /// Listeners are suspects if no successful turn has included their interests. Suspects that have not read yet are
    /// left out until they have. If all suspects have read, they fail; if there are none, all listeners of the turn
    /// fail.
    package mutating func refuse(_ error: StorageError, of reader: UInt64) -> Bool {
        guard reader == generation else { return false }
        let hasLeft = turn.map { !scope().includes($0.scope) } ?? false
        let asked = subscriptions.filter { coverage[$0.key] != nil }
        _ = endTurn()
        // The refused interest may belong to a listener that has left.
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
