import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;
import org.apache.avro.SchemaCompatibility.Incompatibility;
import org.apache.avro.SchemaNormalization;

/** Answers questions about schemas with Avro's own library: a line holds an array of questions, and its answer the answers. */
public final class Oracle {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), 1 << 16);
        BufferedWriter answers = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8), 1 << 16);
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            ArrayNode all = JSON.createArrayNode();
            for (JsonNode question : JSON.readTree(line)) {
                all.add(answer(question));
            }
            answers.write(JSON.writeValueAsString(all));
            answers.newLine();
            answers.flush();
        }
    }

    private static ObjectNode answer(JsonNode question) {
        ObjectNode answer = JSON.createObjectNode();
        try {
            switch (question.get("ask").asText()) {
                case "parse" -> parse(question, answer);
                case "compare" -> compare(question, answer);
                default -> answer.put("refused", "no such question");
            }
        } catch (Throwable refusal) {
            answer.put("refused", refusal.getClass().getSimpleName() + ": " + refusal.getMessage());
        }
        return answer;
    }

    /** One parser reads the references in order and then the schema, as Confluent's registry does it. */
    private static void parse(JsonNode question, ObjectNode answer) throws Exception {
        Schema.Parser parser = new Schema.Parser();
        if (question.has("references")) {
            for (JsonNode reference : question.get("references")) {
                parser.parse(reference.asText());
            }
        }
        Schema schema = parser.parse(question.get("schema").asText());
        answer.put("text", schema.toString());
        answer.put("canonical", SchemaNormalization.toParsingForm(schema));
        answer.put("crc64", Long.toHexString(SchemaNormalization.parsingFingerprint64(schema)));
        answer.put("sha256", HexFormat.of().formatHex(SchemaNormalization.parsingFingerprint("SHA-256", schema)));
        ArrayNode logical = answer.putArray("logical");
        for (Schema found : everyTypeOnce(schema)) {
            logical.add(found.getLogicalType() == null ? "" : found.getLogicalType().getName());
        }
    }

    private static void compare(JsonNode question, ObjectNode answer) {
        Schema reader = read(question, "reader", answer);
        Schema writer = read(question, "writer", answer);
        if (reader == null || writer == null) {
            return;
        }
        ArrayNode reasons = JSON.createArrayNode();
        for (Incompatibility found : SchemaCompatibility.checkReaderWriterCompatibility(reader, writer).getResult()
                .getIncompatibilities()) {
            ArrayNode reason = reasons.addArray();
            reason.add(found.getType().name());
            reason.add(found.getLocation());
            reason.add(found.getMessage());
            reason.add(found.getReaderFragment().toString());
            reason.add(found.getWriterFragment().toString());
        }
        answer.set("reasons", reasons);
    }

    private static Schema read(JsonNode question, String role, ObjectNode answer) {
        try {
            return new Schema.Parser().parse(question.get(role).asText());
        } catch (Throwable refusal) {
            answer.put(role, refusal.getClass().getSimpleName() + ": " + refusal.getMessage());
            return null;
        }
    }

    /** In the order of the text, each record where it comes first. */
    private static List<Schema> everyTypeOnce(Schema schema) {
        List<Schema> found = new ArrayList<>();
        collect(schema, found, new ArrayList<>());
        return found;
    }

    private static void collect(Schema schema, List<Schema> found, List<String> known) {
        found.add(schema);
        switch (schema.getType()) {
            case ARRAY -> collect(schema.getElementType(), found, known);
            case MAP -> collect(schema.getValueType(), found, known);
            case UNION -> schema.getTypes().forEach(branch -> collect(branch, found, known));
            case RECORD -> {
                if (!known.contains(schema.getFullName())) {
                    known.add(schema.getFullName());
                    schema.getFields().forEach(field -> collect(field.schema(), found, known));
                }
            }
            default -> { }
        }
    }
}
