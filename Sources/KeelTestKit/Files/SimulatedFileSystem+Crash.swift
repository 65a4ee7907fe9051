extension SimulatedFileSystem {
    /// What a killed process leaves: every step before, and perhaps a part of the next write.
    ///
    /// - Parameters:
    ///   - count: How many of the recorded steps were done.
    ///   - torn: How many bytes of the step after them were written, when it is a write.
    /// - Returns: The disk as the next process finds it.
    package func disk(afterKillAt count: Int, torn: Int = 0) -> SimulatedDisk {
        let steps = steps
        var disk = SimulatedDisk()
        for step in steps.prefix(count) { disk.repeat(step) }
        if torn > 0, count < steps.count { disk.repeat(steps[count], upTo: torn) }
        return disk
    }

    /// What a power failure leaves: what was synchronised, and any part of the rest.
    ///
    /// A write that was not synchronised is there, missing, cut off, or there as zeros; a name that
    /// was not synchronised is old or new. Each is drawn on its own, which is worse than what file
    /// systems with a journal do.
    ///
    /// - Parameters:
    ///   - count: How many of the recorded steps were begun.
    ///   - random: What draws.
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
            case .sync, .syncFolder:
                break
            }
        }
        return disk
    }
}
