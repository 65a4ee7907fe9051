internal import CacheSimulation
internal import Foundation

/// Prints the hit ratios of cache policies on a trace file.
@main
struct CacheSimulate {
    static func main() {
        // A child that ends early is reported by its exit code, not by a signal.
        signal(SIGPIPE, SIG_IGN)
        do {
            let options = try SimulationOptions(Array(CommandLine.arguments.dropFirst()))
            if options.showsHelp {
                print(SimulationOptions.usage)
                return
            }
            let trace = try TraceReader.read(options.trace, options.format)
            let report = SimulationReport(trace, options)
            print(report.table)
            if let file = options.json { try report.writeJSON(to: file) }
        } catch let error as SimulationUsageError {
            complain("\(error.message)\n\(SimulationOptions.usage)")
            exit(2)
        } catch let error as TraceError {
            complain(error.message)
            exit(1)
        } catch {
            complain(error.localizedDescription)
            exit(1)
        }
    }

    private static func complain(_ message: String) {
        FileHandle.standardError.write(Data("cache-simulate: \(message)\n".utf8))
    }
}
