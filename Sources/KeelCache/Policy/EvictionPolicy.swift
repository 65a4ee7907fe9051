/// Decides which entry has to make room: the one that was not used for longest.
///
/// A plain list of slots, linked by index, so that a use costs no allocation.
@usableFromInline
struct EvictionPolicy: Sendable {
    private struct Node: Sendable {
        var previous: Int32
        var next: Int32
        var cost: Int
    }

    /// Node 0 is the list's end: its next is the latest used slot, its previous the oldest.
    private var nodes = [Node(previous: 0, next: 0, cost: 0)]
    private var free: [Int32] = []
    private let countLimit: Int
    private let costLimit: Int
    @usableFromInline private(set) var count = 0
    @usableFromInline private(set) var cost = 0

    /// Creates a policy for an empty table.
    ///
    /// - Parameters:
    ///   - countLimit: The most entries, nil for any number.
    ///   - costLimit: The most that all entries may cost, nil for any cost.
    ///   - seed: What chance is drawn from.
    @usableFromInline
    init(countLimit: Int?, costLimit: Int?, seed: UInt64) {
        self.countLimit = countLimit ?? .max
        self.costLimit = costLimit ?? .max
    }

    /// Takes in an entry and gives it a slot.
    @usableFromInline
    mutating func insert(hash: UInt64, cost: Int) -> Int {
        let index: Int32
        if let reused = free.popLast() {
            index = reused
        } else {
            index = Int32(nodes.count)
            nodes.append(Node(previous: 0, next: 0, cost: 0))
        }
        nodes[Int(index)].cost = cost
        link(index)
        count += 1
        self.cost += cost
        return Int(index) - 1
    }

    /// Notes that an entry was used.
    @usableFromInline
    mutating func touch(_ slot: Int) {
        let index = Int32(slot + 1)
        guard nodes[0].next != index else { return }
        unlink(index)
        link(index)
    }

    /// Notes that an entry was asked for and was not there.
    @usableFromInline
    mutating func recordMiss(hash: UInt64) {}

    /// Changes what an entry costs.
    @usableFromInline
    mutating func setCost(_ slot: Int, _ cost: Int) {
        self.cost += cost - nodes[slot + 1].cost
        nodes[slot + 1].cost = cost
    }

    /// Forgets an entry and frees its slot.
    @usableFromInline
    mutating func remove(_ slot: Int) {
        let index = Int32(slot + 1)
        unlink(index)
        cost -= nodes[slot + 1].cost
        count -= 1
        free.append(index)
    }

    /// The entry that has to go, forgotten by the policy; nil while all limits are kept.
    @usableFromInline
    mutating func nextVictim() -> Int? {
        guard count > countLimit || cost > costLimit, count > 0 else { return nil }
        let slot = Int(nodes[0].previous) - 1
        remove(slot)
        return slot
    }

    private mutating func link(_ index: Int32) {
        let first = nodes[0].next
        nodes[Int(index)].previous = 0
        nodes[Int(index)].next = first
        nodes[Int(first)].previous = index
        nodes[0].next = index
    }

    private mutating func unlink(_ index: Int32) {
        let node = nodes[Int(index)]
        nodes[Int(node.previous)].next = node.next
        nodes[Int(node.next)].previous = node.previous
    }
}
