import KeelFileTools
import KeelToolSupport

extension BucketOptions {
    /// Reports the entries of a folder that were skipped.
    static func remark(on skipped: [String], _ output: CommandOutput) {
        let reason =
            "it is not a file that can be read, it is behind a link, or its name is invalid in a "
            + "bucket"
        for name in skipped {
            guard output.isJSON else {
                output.message("“\(name)” was skipped: \(reason)")
                continue
            }
            let advice = "Rename it, or leave it out with --exclude of keel files sync."
            output.failure(ToolError("it was skipped: \(reason)", advice: advice), about: name)
        }
    }

    /// Reports the keys that lists have left out; returns whether there are any.
    static func remark(
        onUnlisted transfers: FileTransfers,
        _ output: CommandOutput
    ) -> Bool {
        let (keys, hasMore) = transfers.unlistedKeys
        let reason = "its key is not a valid file path"
        for key in keys {
            guard output.isJSON else {
                output.message("“\(key)” was left out: \(reason)")
                continue
            }
            let advice = "Rename it or delete it with a tool for objects, such as aws s3api."
            output.failure(ToolError("it was left out: \(reason)", advice: advice), about: key)
        }
        if hasMore { output.message("… and more with such keys.") }
        return !keys.isEmpty
    }
}
