@testable import KeelCache

/// The keys of an ``EvictionPolicy``, with a check of its bookkeeping after every step.
struct PolicyTable: PolicyCache {
    private(set) var policy: EvictionPolicy
    private(set) var slots: [Int: Int] = [:]
    private(set) var entries: [Int: (key: Int, cost: Int)] = [:]
    private(set) var flaw: String?
    private(set) var victims: [Int] = []
    /// The lowest number that was never a slot.
    private var highest = 0
    private let countLimit: Int?
    private let costLimit: Int?

    init(countLimit: Int?, costLimit: Int? = nil, seed: UInt64 = 1) {
        policy = EvictionPolicy(countLimit: countLimit, costLimit: costLimit, seed: seed)
        self.countLimit = countLimit
        self.costLimit = costLimit
    }

    mutating func access(_ key: Int) -> Bool { access(key, cost: 1) }

    mutating func access(_ key: Int, cost: Int) -> Bool {
        if let slot = slots[key] {
            policy.touch(slot)
            return true
        }
        let slot = policy.insert(hash: UInt64(key) &* 0xD6E8_FEB8_6659_FD93, cost: cost)
        if entries[slot] != nil { note("slot \(slot) was given twice") }
        if slot < 0 || slot > highest { note("slot \(slot) leaves a gap") }
        highest = max(highest, slot + 1)
        slots[key] = slot
        entries[slot] = (key, cost)
        drain()
        return false
    }

    mutating func remove(_ key: Int) {
        guard let slot = slots.removeValue(forKey: key) else { return }
        entries[slot] = nil
        policy.remove(slot)
    }

    mutating func setCost(_ key: Int, _ cost: Int) {
        guard let slot = slots[key] else { return }
        entries[slot] = (key, cost)
        policy.setCost(slot, cost)
        drain()
    }

    private mutating func drain() {
        while let victim = policy.nextVictim() {
            guard let entry = entries.removeValue(forKey: victim) else {
                return note("the victim \(victim) was not there")
            }
            slots[entry.key] = nil
            victims.append(entry.key)
        }
        if policy.count > countLimit ?? .max { note("\(policy.count) entries are too many") }
        if policy.cost > costLimit ?? .max { note("a cost of \(policy.cost) is too much") }
    }

    /// Compares every sum and list of the policy with this table.
    mutating func checkBooks() {
        if policy.count != entries.count { note("count \(policy.count), not \(entries.count)") }
        let cost = entries.values.reduce(0) { $0 + $1.cost }
        if policy.cost != cost { note("cost \(policy.cost), not \(cost)") }
        var seen: Set<Int> = []
        var weights: [SlotLists.Region: Int] = [:]
        for region in [SlotLists.Region.window, .probation, .protected] {
            var next = policy.lists.last(region)
            while let node = next {
                let slot = node - SlotLists.headCount
                if !seen.insert(slot).inserted { return note("slot \(slot) is linked twice") }
                if policy.lists.nodes[node].region != region { note("slot \(slot) is elsewhere") }
                if policy.lists.nodes[node].cost != entries[slot]?.cost { note("cost of \(slot)") }
                weights[region, default: 0] += policy.weight(entries[slot]?.cost ?? 0)
                next = policy.lists.before(node)
            }
        }
        if seen != Set(entries.keys) { note("the lists have other slots") }
        guard countLimit != nil || costLimit != nil else { return }
        if policy.windowWeight != weights[.window, default: 0] { note("weight of the window") }
        if policy.protectedWeight != weights[.protected, default: 0] { note("protected weight") }
    }

    private mutating func note(_ text: String) { flaw = flaw ?? text }
}
