package import KeelDocuments

/// A check that ends long in-memory work soon after its task is canceled.
///
/// It checks only every 64 steps, because a check costs about as much as a step.
package struct CancellationCheck: Sendable {
    private static let interval: UInt32 = 64

    private let isOn: Bool
    private var count: UInt32 = 0

    /// Creates a check.
    ///
    /// - Parameter isOn: Whether to react to cancellation; pass false for work shared by several tasks.
    package init(isOn: Bool = true) { self.isOn = isOn }

    /// Counts a step.
    ///
    /// - Throws: `StorageError/Code/cancelled` if the task was canceled.
    package mutating func step() throws(StorageError) {
        count &+= 1
        guard count.isMultiple(of: Self.interval), isOn, Task.isCancelled else { return }
        throw .cancellation
    }
}
