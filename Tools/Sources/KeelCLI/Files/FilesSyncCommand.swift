import ArgumentParser
import Foundation
import KeelFileTools
import KeelTerminal
import KeelToolSupport

struct FilesSyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Makes a folder like another one, and copies only files that differ.",
        discussion: """
            A file is copied if the target lacks it, if the sizes differ, or if the source is newer. \
            Run the command again to continue an interrupted one. Files of the target that the source \
            lacks stay, unless --delete is given. A source without files, such as a mistyped folder of \
            a bucket or a disk that is not mounted, deletes nothing without --allow-empty.

            In patterns, ? and * stand for characters of a name, and ** for folders too. *.jpg is a \
            file in any folder, /*.jpg one at the top, and cache/ all files of folders of that name.
            """
    )

    @Argument(
        help: "The folder to read: s3://BUCKET/FOLDER, or a path of the machine.",
        completion: .directory
    )
    var from: FilePlace

    @Argument(
        help: "The folder to change: s3://BUCKET/FOLDER, or a path of the machine.",
        completion: .directory
    )
    var to: FilePlace

    @Flag(help: "Deletes files of the target that the source lacks; asks before.")
    var delete = false

    @Flag(help: "Lets --delete empty the target if the source has no files.")
    var allowEmpty = false

    @Flag(name: .shortAndLong, help: "Deletes without asking.")
    var yes = false

    @Flag(name: [.customShort("n"), .long], help: "Shows what would be done, and does nothing.")
    var dryRun = false

    @Flag(help: "Compares files of the same size by their CRC-32C, not by their dates.")
    var checksum = false

    @Option(help: ArgumentHelp("Only the files that match; can be repeated.", valueName: "glob"))
    var include: [String] = []

    @Option(help: ArgumentHelp("Without the files that match; can be repeated.", valueName: "glob"))
    var exclude: [String] = []

    @OptionGroup var bucket: BucketOptions

    func validate() throws {
        try FilePlace.requirePair(from, to, named: "FOLDER")
        guard !from.isStandard, !to.isStandard else {
            throw ValidationError("A sync needs folders: type a path; ./- is a folder called -.")
        }
    }

    func run() async throws {
        let command = self
        try await bucket.run { transfers, output in
            let planning = output.progressLine(unit: .items("files"))
            defer { planning.finish() }
            var plan = try await transfers.plan(
                from: command.from,
                to: command.to,
                patterns: NamePatterns(include: command.include, exclude: command.exclude),
                comparesChecksums: command.checksum
            ) { count, total in
                planning.update(
                    done: count,
                    total: total,
                    note: total == nil ? "listed" : "compared"
                )
            }
            planning.finish()
            BucketOptions.remark(on: plan.skipped, output)
            if !command.delete { plan.keepOthers() }
            if command.dryRun {
                try command.show(plan, output)
            } else {
                try command.refuseEmptySource(of: plan)
                if !plan.deletions.isEmpty, !command.yes {
                    let files = plan.deletions.count.counted("file")
                    try Confirmation.ask(
                        "Delete \(files) of “\(command.to)”?",
                        declined: "nothing was copied or deleted",
                        advice: """
                            Add --yes to delete \(files) of “\(command.to)”, or --dry-run to see \
                            which.
                            """
                    )
                }
                let line = BucketOptions.progressLine(of: transfers, output)
                defer { line.finish() }
                let report = try await transfers.copy(plan) { progress in
                    try BucketOptions.show(progress, line, output)
                }
                line.finish()
                for failure in report.failures {
                    output.failure(failure.error, about: failure.from.description)
                }
                // After a failure nothing is deleted: the target may be the last copy.
                guard report.failures.isEmpty else { return .failed }
                try await transfers.delete(plan) { place in
                    try command.show("deleted", place, output)
                }
                if !output.isJSON {
                    try output.line(
                        """
                        \(report.fileCount) copied, \(plan.deletions.count) deleted, \
                        \(plan.unchangedCount) unchanged
                        """
                    )
                }
            }
            return plan.skipped.isEmpty ? .done : .findings
        }
    }

    /// Refuses to delete all files of the target because the source has none, unless --allow-empty is given.
    private func refuseEmptySource(of plan: FileTransfers.SyncPlan) throws {
        guard plan.hasEmptySource, !plan.deletions.isEmpty, !allowEmpty else { return }
        let files = plan.deletions.count.counted("file")
        throw ToolError(
            "nothing was deleted: “\(from)” has no files, and “\(to)” has \(files)",
            advice: """
                Correct the path of the source, or mount its disk; add --allow-empty to delete \
                \(files) of “\(to)”.
                """
        )
    }

    private func show(_ plan: FileTransfers.SyncPlan, _ output: CommandOutput) throws {
        for copy in plan.copies { try show("would copy", copy.to, output) }
        for place in plan.deletions { try show("would delete", place, output) }
        guard !output.isJSON else { return }
        try output.line(
            """
            \(plan.copies.count) to copy, \(plan.deletions.count) to delete, \
            \(plan.unchangedCount) unchanged
            """
        )
    }

    private func show(_ action: String, _ place: FilePlace, _ output: CommandOutput) throws {
        if output.isJSON {
            try output.record([action.replacing(" ", with: "-"): place.description])
        } else {
            try output.line("\(action) \(place)")
        }
    }
}

/// A question before files or keys are destroyed.
enum Confirmation {
    /// Asks a person at the terminal.
    ///
    /// - Parameters:
    ///   - question: The question, which is answered with yes or no.
    ///   - declined: The message of the error.
    ///   - advice: The advice of the error.
    /// - Throws: `ToolError` after any answer but yes, and without a terminal; `CancellationError`.
    static func ask(
        _ question: String,
        declined: String = "nothing was deleted",
        advice: String
    ) throws {
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
            throw ToolError("\(declined): there is no terminal for the question", advice: advice)
        }
        let shown = CommandOutput.harmless("\(question) [y/N] ")
        try FileHandle.standardError.write(contentsOf: Array(shown.utf8))
        // The wait notices an interruption, which reading a line does not.
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        while poll(&input, 1, 100) == 0 { try Task.checkCancellation() }
        try Task.checkCancellation()
        let answer = readLine()?.lowercased() ?? ""
        guard answer == "y" || answer == "yes" else {
            throw ToolError(declined, advice: advice)
        }
    }
}
