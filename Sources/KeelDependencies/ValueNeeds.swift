import Synchronization

/// Which values are needed to make which others, while they are being made.
///
/// Two threads that make two values, each of which needs the other, would wait for each other for
/// ever.
struct ValueNeeds {
    /// A value that is not made yet.
    struct Node: Sendable {
        let id: ObjectIdentifier
        let key: String
    }

    /// A value that is being made, and the task that makes it, if one does.
    private struct Maker: Sendable {
        let node: Node
        let task: Int?
    }

    /// The value that is being made around the running code.
    @TaskLocal private static var maker: Maker?

    private static let ofProcess = Mutex(ValueNeeds())

    /// The value that each maker is waiting for, at most one.
    private var needs: [ObjectIdentifier: Node] = [:]

    /// Gets a value that is not made yet; it stops the process where that would never end.
    static func need<Value>(_ node: Node, get: () -> Value) -> Value {
        // Who makes nothing can wait for anybody: so can a task that was begun while a value was
        // made, for the value does not wait for it.
        guard let maker = Self.maker, maker.task == task else { return get() }
        if let cycle = ofProcess.withLock({ $0.begin(maker.node, needing: node) }) {
            fatalError(
                """
                These dependencies need each other while they are made, so none ever is: \
                \(cycle.joined(separator: " → ")). Let one of them read the other when it is used, \
                and not when it is made.
                """
            )
        }
        defer { ofProcess.withLock { $0.end(maker.node) } }
        return get()
    }

    /// Makes a value; what it needs meanwhile is noted.
    static func make<Value>(_ node: Node, _ make: () -> Value) -> Value {
        $maker.withValue(Maker(node: node, task: task), operation: make)
    }

    private static var task: Int? { withUnsafeCurrentTask { $0?.hashValue } }

    /// Notes a need.
    ///
    /// - Returns: The keys of a cycle that the need would close, the first one once more at the end;
    ///   nothing is noted then.
    mutating func begin(_ maker: Node, needing node: Node) -> [String]? {
        var keys = [maker.key, node.key]
        var last = node
        while last.id != maker.id {
            guard let next = needs[last.id] else {
                needs[maker.id] = node
                return nil
            }
            keys.append(next.key)
            last = next
        }
        return keys
    }

    /// Forgets what a maker needed: it has got it.
    mutating func end(_ maker: Node) { needs[maker.id] = nil }
}
