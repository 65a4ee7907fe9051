package import Foundation

/// Checks the machine's clock, on which expirations, signatures and certificates depend.
package struct ClockCheck: DoctorCheck {
    /// Whether the system synchronizes the clock.
    package enum Synchronization: Sendable, Hashable {
        case synchronized
        case unsynchronized
        /// The system does not report it.
        case unknown
    }

    /// No correct clock shows an earlier time: this code was written later.
    static let earliest = Date(timeIntervalSince1970: 1_795_000_000)
    /// Thirty years later.
    static let latest = earliest.addingTimeInterval(30 * 365 * 86_400)

    private let now: Date
    private let synchronization: Synchronization

    package init(now: Date = .now, _ synchronization: Synchronization = .current) {
        self.now = now
        self.synchronization = synchronization
    }

    package func findings() async -> [DoctorFinding] {
        let time = now.formatted(.iso8601)
        guard (Self.earliest...Self.latest).contains(now) else {
            return [
                .problem(
                    "clock",
                    "It shows \(time), which is impossible.",
                    advice: "Set the clock, or let the system do so: `timedatectl set-ntp true`."
                )
            ]
        }
        switch synchronization {
        case .synchronized: return [.good("clock", "\(time), synchronized by the system")]
        case .unknown: return [.good("clock", time)]
        case .unsynchronized:
            return [
                .warning(
                    "clock",
                    "\(time), not synchronized by the system",
                    advice: "Turn time synchronization on: `timedatectl set-ntp true`. In a "
                        + "container, the host does this."
                )
            ]
        }
    }
}

extension ClockCheck.Synchronization {
    /// The state reported by the kernel.
    package static var current: Self {
        #if os(Linux)
        // adjtimex(2) is in the C library, but not in the headers that Swift sees. With a zeroed
        // `struct timex` it only reads; with a 64-bit `long`, the status is at byte 40, bit 6 of
        // which is STA_UNSYNC.
        typealias Adjust = @convention(c) (UnsafeMutableRawPointer) -> Int32
        guard MemoryLayout<Int>.size == 8, let symbol = dlsym(nil, "adjtimex") else {
            return .unknown
        }
        let adjust = unsafeBitCast(symbol, to: Adjust.self)
        let size = 512
        return withUnsafeTemporaryAllocation(byteCount: size, alignment: 16) { state in
            _ = state.initializeMemory(as: UInt8.self, repeating: 0)
            guard let base = state.baseAddress, adjust(base) >= 0 else { return .unknown }
            let status = state.load(fromByteOffset: 40, as: Int32.self)
            return status & 0x40 == 0 ? .synchronized : .unsynchronized
        }
        #else
        return .unknown
        #endif
    }
}
