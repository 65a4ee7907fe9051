import Foundation

/// Measures elapsed and processor time.
enum Timing {
    /// Returns the average microseconds of one of `count` calls.
    static func perCall(_ count: Int, _ body: (Int) throws -> Void) rethrows -> Double {
        let start = ContinuousClock.now
        for number in 0..<count { try body(number) }
        return start.duration(to: .now).microseconds / Double(count)
    }

    /// Returns the average microseconds of one of `count` asynchronous calls.
    static func perCall(_ count: Int, _ body: (Int) async throws -> Void) async rethrows -> Double {
        let start = ContinuousClock.now
        for number in 0..<count { try await body(number) }
        return start.duration(to: .now).microseconds / Double(count)
    }

    /// Returns the processor time of all of the process's threads so far, in microseconds.
    static func processorTime() -> Double {
        var usage = rusage()
        getrusage(0, &usage)  // RUSAGE_SELF, which Glibc imports as another type
        func microseconds(_ time: timeval) -> Double {
            Double(time.tv_sec) * 1_000_000 + Double(time.tv_usec)
        }
        return microseconds(usage.ru_utime) + microseconds(usage.ru_stime)
    }
}

extension Duration {
    var microseconds: Double { self / .microseconds(1) }
}
