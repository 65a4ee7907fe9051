import Logging

/// The statement that every logger of the benchmarks receives: a message and three fields, of which one is new each
/// time, one repeats after eight records and one is constant.
enum OrderStatement {
    static func log(_ number: Int, to logger: Logger) {
        logger.info(
            "order placed",
            metadata: [
                "order": "\(100_000 + number)", "items": "\(number % 8)",
                "restaurant": "Trattoria Bella Vista",
            ]
        )
    }

    /// Logs the same at a level that the benchmarks' loggers ignore.
    static func logDebug(_ number: Int, to logger: Logger) {
        logger.debug(
            "order placed",
            metadata: [
                "order": "\(100_000 + number)", "items": "\(number % 8)",
                "restaurant": "Trattoria Bella Vista",
            ]
        )
    }
}
