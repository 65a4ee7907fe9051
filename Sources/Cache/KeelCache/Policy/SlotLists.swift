/// The slots of a cache in three lists by last use, linked by index.
package struct SlotLists: Sendable {
    /// The list of a slot.
    package enum Region: UInt8, Sendable {
        /// New entries, by last use.
        case window
        /// Entries of the main part that have not been used since they entered it, or were demoted.
        case probation
        /// Entries of the main part that were used there.
        case protected
        case free
    }

    /// A node of 24 bytes per entry.
    package struct Node: Sendable {
        package var cost: Int
        package var previous: Int32
        package var next: Int32
        package var hash: UInt32
        package var region: Region
    }

    package static let headCount = 4

    package private(set) var nodes: ContiguousArray<Node>
    package private(set) var count = 0

    package init() {
        let regions: [Region] = [.window, .probation, .protected, .free]
        nodes = ContiguousArray(
            regions.enumerated().map { index, region in
                Node(cost: 0, previous: Int32(index), next: Int32(index), hash: 0, region: region)
            }
        )
    }

    @inline(__always)
    package func last(_ region: Region) -> Int? {
        let last = Int(nodes[Int(region.rawValue)].previous)
        return last < Self.headCount ? nil : last
    }

    /// Returns the next more recently used node, or nil for the most recently used one.
    @inline(__always)
    package func before(_ node: Int) -> Int? {
        let previous = Int(nodes[node].previous)
        return previous < Self.headCount ? nil : previous
    }

    package mutating func add(hash: UInt32, cost: Int, to region: Region) -> Int {
        count += 1
        let node: Int
        let free = Int(nodes[Int(Region.free.rawValue)].next)
        if free >= Self.headCount {
            // The one freed last, whose cache line may still be near.
            node = free
            nodes[node].hash = hash
            nodes[node].cost = cost
        } else {
            node = nodes.count
            nodes.append(
                Node(
                    cost: cost,
                    previous: Int32(node),
                    next: Int32(node),
                    hash: hash,
                    region: region
                )
            )
        }
        move(node, to: region)
        return node
    }

    package mutating func setCost(_ node: Int, _ cost: Int) {
        nodes[node].cost = cost
    }

    package mutating func moveToEnd(_ node: Int) {
        let head = Int(nodes[node].region.rawValue)
        let last = Int(nodes[head].previous)
        guard last != node else { return }
        let (previous, next) = (nodes[node].previous, nodes[node].next)
        nodes[Int(previous)].next = next
        nodes[Int(next)].previous = previous
        nodes[node].previous = Int32(last)
        nodes[node].next = Int32(head)
        nodes[last].next = Int32(node)
        nodes[head].previous = Int32(node)
    }

    package mutating func remove(_ node: Int) {
        count -= 1
        move(node, to: .free)
    }

    @inline(__always)
    package mutating func move(_ node: Int, to region: Region) {
        nodes.withUnsafeMutableBufferPointer { nodes in
            let head = Int(region.rawValue)
            let first = nodes[head].next
            guard first != Int32(truncatingIfNeeded: node) else { return }
            let (previous, next) = (nodes[node].previous, nodes[node].next)
            nodes[Int(previous)].next = next
            nodes[Int(next)].previous = previous
            nodes[node].previous = Int32(truncatingIfNeeded: head)
            nodes[node].next = first
            nodes[node].region = region
            nodes[Int(first)].previous = Int32(truncatingIfNeeded: node)
            nodes[head].next = Int32(truncatingIfNeeded: node)
        }
    }
}
