import KeelDocuments

let query = DocumentQuery("notes").where(.equal("text", "Hello"))
print(query, DocumentBody(["text": "Hello"]).bytes.count)
