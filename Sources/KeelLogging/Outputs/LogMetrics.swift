#if Logging

package import Logging

#if Observability
internal import Metrics
#endif

/// Counts what was dropped, where swift-metrics is there.
///
/// The counter is `keel.log.dropped`, with the dimensions `level` and `output`. Without the trait
/// `Observability` the statistics of each output have the same numbers.
package enum LogMetrics {
    /// Counts records of a level that an output has dropped.
    package static func dropped(_ count: Int, _ level: Logger.Level, output: String) {
        #if Observability
        Counter(
            label: "keel.log.dropped",
            dimensions: [("level", level.rawValue), ("output", output)]
        )
        .increment(by: count)
        #endif
    }
}

#endif
