package import KeelDocuments

/// Ends long work in memory soon after its task was cancelled.
///
/// It asks every so many steps: asking costs about as much as a step.
package struct CancellationCheck: Sendable {
    private static let interval: UInt32 = 64

    private let isOn: Bool
    private var count: UInt32 = 0

    /// Creates a check.
    ///
    /// - Parameter isOn: Whether cancellation is heeded: not in work for several tasks.
    package init(isOn: Bool = true) { self.isOn = isOn }

    /// Counts a step.
    ///
    /// - Throws: `StorageError/Code/cancelled` if the task was cancelled.
    package mutating func step() throws(StorageError) {
        count &+= 1
        guard count.isMultiple(of: Self.interval), isOn, Task.isCancelled else { return }
        throw .cancellation
    }
}
