import Foundation

/// Breaks Keel on purpose, repeatedly, and checks the result; see Scripts/soak.sh.
@main
struct KeelSoak {
    private static let usage = """
        usage: keel-soak [storage] [--trials N] [--seed N] [--folder FOLDER]
               keel-soak passwords [--trials N]
          --trials N       how many writers are killed (default 10000), or passwords hashed (200)
          --seed N         the seed of the moments, to repeat a run
          --folder FOLDER  where the store is made (default: the temporary folder)
        """

    static func main() async {
        do {
            var arguments = CommandLine.arguments.dropFirst()
            switch arguments.popFirst() {
            case nil, "storage"?:
                let trials = try KillTrials(Array(arguments))
                exit(try await trials.run() ? 0 : 1)
            case "passwords"?:
                exit(try await PasswordTrials(Array(arguments)).run() ? 0 : 1)
            case CrashWriter.command?:
                try await CrashWriter.run(Array(arguments))
            case let group?: throw Failure("there is no group '\(group)'")
            }
        } catch {
            FileHandle.standardError.write(Data("keel-soak: \(error)\n\(usage)\n".utf8))
            exit(2)
        }
    }
}

/// A failed trial.
struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
