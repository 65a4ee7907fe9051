import Synchronization

/// The dependencies among values that are being created, which detect deadlocks.
struct ValueNeeds {
    /// A value that has not been created yet.
    struct Node: Sendable {
        let id: ObjectIdentifier
        let key: String
    }

    /// A value that is being created, and the task that creates it, if any.
    private struct Maker: Sendable {
        let node: Node
        let task: Int?
    }

    /// The value that the running code is creating.
    @TaskLocal private static var maker: Maker?

    private static let ofProcess = Mutex(ValueNeeds())

    /// The value that each maker is waiting for, at most one.
    private var needs: [ObjectIdentifier: Node] = [:]

    /// Gets a value that may have to be created first, or stops the process in case of a deadlock.
    static func need<Value>(_ node: Node, get: () -> Value) -> Value {
        // Code that is not creating a value can wait for any other, and so can a task started during a creation,
        // because the value does not wait for that task.
        guard let maker = Self.maker, maker.task == task else { return get() }
        if let cycle = ofProcess.withLock({ $0.begin(maker.node, needing: node) }) {
            // Going on would wait forever, without a message.
            fatalError(
                """
                These dependencies need each other while they are created, so none can be: \
                \(cycle.joined(separator: " → ")). Let one of them read the other when it is used, \
                and not when it is created.
                """
            )
        }
        defer { ofProcess.withLock { $0.end(maker.node) } }
        return get()
    }

    static func make<Value>(_ node: Node, _ make: () -> Value) -> Value {
        $maker.withValue(Maker(node: node, task: task), operation: make)
    }

    private static var task: Int? { withUnsafeCurrentTask { $0?.hashValue } }

    /// Records a need.
    ///
    /// - Returns: The keys of the cycle that the need would close, ending with the first one again; nothing is recorded
    ///   then.
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

    mutating func end(_ maker: Node) { needs[maker.id] = nil }
}
