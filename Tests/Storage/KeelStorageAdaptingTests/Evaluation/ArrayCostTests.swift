import Foundation
import KeelStorageAdapting
import KeelTestKit
import Testing

@Suite("Cost of arrays", .timeLimit(.minutes(10)))
struct ArrayCostTests {
    @Test("The work of adding and removing elements grows like the array, not like its square")
    func isLinear() throws {
        for (operation, halves) in [
            (FieldTransform.Operation.arrayUnion, 3), (FieldTransform.Operation.arrayRemove, 1),
        ] {
            let small = try Self.work(on: 1_000, operation, leaving: halves)
            let large = try Self.work(on: 32_000, operation, leaving: halves)
            // Linear work is 32 times as much and quadratic work 1,024 times; 181 is their geometric mean, which leaves
            // a factor of 5.7 to both sides.
            #expect(large < small * 181, "\(halves) halves: \(small) and \(large) ns")
        }
    }

    /// Returns the processor time of adding or removing as many elements as an array has, half of which it has.
    ///
    /// It is the time of this thread, to which other tests add nothing; in nanoseconds, the least of three runs. The
    /// array then has `halves` halves of its former length.
    private static func work(
        on count: Int,
        _ operation: ([DocumentValue]) -> FieldTransform.Operation,
        leaving halves: Int
    ) throws -> Int64 {
        func elements(from first: Int) -> [DocumentValue] {
            (first..<first + count).map { .integer(Int64($0)) }
        }
        let document = Document.stub(
            "a/1",
            ["tags": .array(elements(from: 0))],
            at: Timestamp(microseconds: 1)
        )
        let change = FieldChange("tags", .transform(operation(elements(from: count / 2))))
        let write = DocumentWrite("a/1", .update([change]))
        let commit = StorageEvaluator.Commit(time: Timestamp(microseconds: 2), revision: 2)
        var least = Int64.max
        for _ in 0..<3 {
            let start = threadTime()
            let effect = try StorageEvaluator.apply(write, to: document, at: commit).effect
            least = min(least, threadTime() - start)
            guard case .store(let changed) = effect else {
                Issue.record("the array has not changed")
                continue
            }
            #expect(changed["tags"]?.arrayValue?.count == count / 2 * halves)
        }
        return least
    }

    private static func threadTime() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
