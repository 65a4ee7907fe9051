extension SimulatedFileSystem {
    /// Returns the disk that a killed process leaves: every earlier step, and perhaps a part of the next write.
    ///
    /// - Parameters:
    ///   - count: The number of recorded steps that were completed.
    ///   - torn: The number of bytes written by the following step, if it is a write.
    /// - Returns: The disk as the next process finds it.
    package func disk(afterKillAt count: Int, torn: Int = 0) -> SimulatedDisk {
        let steps = steps
        var disk = SimulatedDisk()
        for step in steps.prefix(count) { disk.repeat(step) }
        if torn > 0, count < steps.count { disk.repeat(steps[count], upTo: torn) }
        return disk
    }

    /// Returns the disk that a power failure leaves: all synchronized data and any part of the rest.
    ///
    /// An unsynchronized write is whole, missing, truncated or zeroed; an unsynchronized name is old or new. Each is
    /// drawn independently, which is worse than the behavior of journaling file systems.
    ///
    /// - Parameters:
    ///   - count: The number of recorded steps that were begun.
    ///   - random: The source of randomness.
    /// - Returns: The disk as the next process finds it.
    package func disk(
        afterPowerFailureAt count: Int,
        using random: inout some RandomNumberGenerator
    ) -> SimulatedDisk {
        let steps = steps.prefix(count)
        var syncedFiles: [Int: Int] = [:]
        var syncedNames = -1
        for (position, step) in steps.enumerated() {
            if case .sync(let file) = step { syncedFiles[file] = position }
            if case .syncFolder = step { syncedNames = position }
        }
        let chance = Int.random(in: 0...4, using: &random)
        var disk = SimulatedDisk()
        for (position, step) in steps.enumerated() {
            switch step {
            case .write(let file, let offset, let bytes):
                let isSafe = position < syncedFiles[file] ?? -1
                guard !isSafe, Int.random(in: 0...4, using: &random) >= chance else {
                    disk.repeat(step)
                    continue
                }
                let part = Int.random(in: 0...bytes.count, using: &random)
                switch Int.random(in: 0...2, using: &random) {
                case 0: break
                case 1:
                    disk.apply(.write(file: file, offset: offset, bytes: Array(bytes.prefix(part))))
                default:
                    let zeros = [UInt8](repeating: 0, count: part)
                    disk.apply(.write(file: file, offset: offset, bytes: zeros))
                }
            case .truncate(let file, _):
                if position < syncedFiles[file] ?? -1 || Bool.random(using: &random) {
                    disk.repeat(step)
                }
            case .create, .rename, .remove:
                let isSafe = position < syncedNames
                if isSafe || Int.random(in: 0...4, using: &random) < chance + 1 {
                    disk.repeat(step)
                }
            case .sync, .syncFolder: break
            }
        }
        return disk
    }
}
